/// Finds the word that a person may have meant.
package enum Suggestion {
    /// " Did you mean 'list'?", or nothing where no word is near.
    package static func text(for word: String, among words: [String]) -> String {
        nearest(to: word, among: words).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// The word with the fewest letters to change, at most one in three.
    package static func nearest(to word: String, among words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(Array(word.utf8.prefix(64)), Array($0.utf8))) }
        return distances.filter { $0.distance <= max(1, $0.word.utf8.count / 3) }.min { $0.distance < $1.distance }?.word
    }

    /// How many letters are changed, added, removed, or swapped with their neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var older: [Int] = []
        var above = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(above[column] + (letter == other ? 0 : 1), above[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other { least = min(least, older[column - 1] + 1) }
                line.append(least)
            }
            (older, above) = (above, line)
        }
        return above[right.count]
    }
}
