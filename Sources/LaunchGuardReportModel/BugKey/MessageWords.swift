/// Texts of messages without their data: the words that are the same each time.
enum MessageWords {
    /// Nil: the text is chance, or says what the kind says.
    static func said(_ message: Message, in kind: String) -> String? {
        let text = message.text.inOneLine
        switch message.source {
        // Which check of the heap fails first depends on the size of the block.
        case .libc where kind == "abort.heap": return text.contains("double free") ? "double free" : text.contains("invalid ") ? "invalid pointer" : "corruption"
        case .libc where text.contains(": Assertion `"):
            guard let begin = text.firstRange(of: ": Assertion `"), let end = text.firstRange(of: "' failed") else { return words(text) }
            return begin.upperBound <= end.lowerBound ? "assertion \(text[begin.upperBound..<end.lowerBound])" : words(text)
        // A release build says no words there.
        case .swift where kind.hasPrefix("trap.swift.") && kind != "trap.swift.fatal_error": return nil
        case .cppType: return "type \(FunctionName.withoutArguments(message.demangled ?? text))"
        default: return words(withoutPlace(text))
        }
    }

    /// The words of a program that ended by its own will. A panic of Rust ends with its place, of
    /// which the line changes with each version.
    static func words(ofProgram text: String) -> String {
        guard text.hasPrefix("panic: "), text.hasSuffix(")"), let begin = text.lastIndex(of: "(") else { return words(withoutPlace(text)) }
        let place = text[text.index(after: begin)...].dropLast().split(separator: ":")
        let words = words(String(text[..<begin].dropFirst("panic: ".count)))
        return place.count == 3 ? "panic in \(String(place[0]).lastPathPart), column \(place[2]): \(words)" : "panic: \(words)"
    }

    /// Up to the first colon after some words; "#" stands for each word with a digit, a slash or
    /// other signs of data, and for what stands in quotes.
    static func words(_ text: String) -> String {
        var result: [String] = []
        var quote: Character?
        for part in text.split(separator: " ") {
            if let open = quote {
                if part.contains(where: { closes(open, $0) }) { quote = nil }
                continue
            }
            let word = part.drop { "([{".contains($0) }
            if let first = word.first, "'\"`‘“".contains(first) {
                if !word.dropFirst().contains(where: { closes(first, $0) }) { quote = first }
                put("#", &result)
            } else {
                let isData = word.contains { $0.isNumber || "/\\@=%".contains($0) }
                put(isData ? "#" : String(word.prefix { $0 != ":" || word.contains("::") }), &result)
            }
            if part.hasSuffix(":"), !part.hasSuffix("::"), result.contains(where: { $0 != "#" }) { break }
        }
        return result.joined(separator: " ")
    }

    private static func put(_ word: String, _ result: inout [String]) {
        if word != "#" || result.last != "#" { result.append(word) }
    }

    private static func closes(_ open: Character, _ character: Character) -> Bool {
        switch open {
        case "`": character == "`" || character == "'"
        case "‘": character == "’"
        case "“": character == "”"
        default: character == open
        }
    }

    /// Without the file and the line that runtimes write before their words, and without those.
    private static func withoutPlace(_ text: String) -> String {
        var rest = text[...]
        if let colon = rest.firstRange(of: ": "), let mark = rest[..<colon.lowerBound].lastIndex(of: ":"),
            rest[rest.index(after: mark)..<colon.lowerBound].allSatisfy(\.isNumber)
        {
            rest = rest[colon.upperBound...]
        }
        for words in ["Fatal error: ", "fatal error: ", "Precondition failed: ", "Assertion failed: ", "error: ", "terminate called after "] where rest.hasPrefix(words) {
            rest = rest.dropFirst(words.count)
        }
        return String(rest)
    }

    /// The innermost function of the program in the last traceback of Python, with its file.
    static func pythonPlace(in text: String) -> String? {
        let mark = "Traceback (most recent call last):"
        guard let last = text.ranges(of: mark).last else { return nil }
        var place: String?
        for line in text[last.upperBound...].split(separator: "\n") where line.hasPrefix("  File \"") {
            let parts = line.dropFirst("  File \"".count).split(separator: "\"", maxSplits: 1)
            guard parts.count == 2, let mark = parts[1].firstRange(of: ", in ") else { continue }
            let isLibrary = parts[0].contains("/lib/python") || parts[0].contains("-packages/") || parts[0].hasPrefix("<frozen")
            if !isLibrary || place == nil { place = "\(String(parts[0]).lastPathPart) \(parts[1][mark.upperBound...])" }
        }
        return place
    }
}
