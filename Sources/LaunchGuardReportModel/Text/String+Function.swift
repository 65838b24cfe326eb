extension String {
    /// Where a sentence has room for it, the name of a function as it is. A longer one, of a
    /// template for example, has "…" for what stands in brackets: `Cache<…>::load(…)`; if that is
    /// still too long, for its middle.
    var functionInShort: String {
        count > Self.roomForFunction ? (withoutBrackets ?? self).cutInTheMiddle(to: Self.roomForFunction) : self
    }

    private static let roomForFunction = 120

    /// Nil: the brackets do not fit together.
    private var withoutBrackets: String? {
        var result = "", closing: [Character] = [], last: Character = " "
        let isSaid = "(anonymous namespace)"
        var rest = self[...]
        while let character = rest.first {
            if closing.isEmpty, rest.hasPrefix(isSaid) {
                result += isSaid
                rest = rest.dropFirst(isSaid.count)
                last = ")"
                continue
            }
            rest = rest.dropFirst()
            switch character {
            case "<", "(", "[", "{":
                if closing.isEmpty { result.append(character) }
                closing.append(["<": ">", "(": ")", "[": "]"][character] ?? "}")
            // An arrow is no bracket.
            case ">" where last == "-":
                if closing.isEmpty { result.append(character) }
            case ">", ")", "]", "}":
                guard closing.popLast() == character else { return nil }
                if closing.isEmpty { result += "…\(character)" }
            default: if closing.isEmpty { result.append(character) }
            }
            last = character
        }
        return closing.isEmpty ? result : nil
    }

    private func cutInTheMiddle(to room: Int) -> String {
        count > room ? prefix(room / 2) + "…" + suffix(room - room / 2 - 1) : self
    }
}
