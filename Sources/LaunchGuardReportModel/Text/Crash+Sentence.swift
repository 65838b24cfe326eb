extension Crash {
    /// What happened, in which function, where, and in which program, for example "read through a
    /// NULL pointer in parse_entry (daemon.c:32) of notesd".
    ///
    /// - Parameter lastWords: what was said on standard error, where the record has no message.
    func sentence(_ own: OwnCode, of program: String? = nil, lastWords: Message? = nil) -> String {
        let (words, saidAt) = lastWords.map { ($0.text.inOneLine, nil) } ?? happened(own)
        let place = place(own, saidAt) ?? ""
        let isNamed = program.map { place.hasPrefix(" in \($0) + ") } ?? true
        return words + place + (isNamed ? "" : " \(place.isEmpty ? "in" : "of") \(program ?? "")")
    }

    /// What happened, and where that was by the program's own words.
    private func happened(_ own: OwnCode) -> (words: String, location: String?) {
        if let cause = thrownWords { return (cause.inOneLine, nil) }
        if let accesses = accessWords { return (accesses, nil) }
        if let said = messages?.first?.spoken { return (said.words.inOneLine, said.location) }
        if let message { return (message.inOneLine, nil) }
        guard let what else { return (signal.name + senderWords(own), nil) }
        if let syscall { return ("\(what) \(syscall)", nil) }
        return (what + (hasData ? address.map { " at address \($0.short)" } ?? "" : ""), nil)
    }

    private func senderWords(_ own: OwnCode) -> String {
        guard let senderProcessID else { return "" }
        return kind == "signal.self" || senderProcessID == own.process ? " sent by the program itself" : " sent by process \(senderProcessID) of user \(senderUserID ?? 0)"
    }

    /// Kinds with an address of data, which may tell where a pointer came from.
    private var hasData: Bool {
        [
            "fault.null_offset", "fault.readonly_write", "fault.protected", "fault.unmapped", "fault.bus", "fault.bus_file", "fault.bus_memory",
            "fault.pkey", "fault.hwpoison", "fault.tag",
        ].contains(kind)
    }

    private func place(_ own: OwnCode, _ saidAt: String?) -> String? {
        guard let place = own.place(in: stack) else { return saidAt.map { " (\($0))" } }
        let symbol = stack?.frames.lazy.flatMap { $0.symbols ?? [] }.first { "in \($0.name)" == place }
        let function = (symbol.map { "in \($0.nameInSentence)" } ?? place).functionInShort
        guard let location = symbol?.locationInShort ?? saidAt else { return " \(function)" }
        return function.hasSuffix(")") ? " \(function) at \(location)" : " \(function) (\(location))"
    }
}

extension Symbol {
    /// The name without the parameters of C++, which the line of the source stands for.
    fileprivate var nameInSentence: String {
        mangledName?.hasPrefix("_Z") == true ? name.withoutParameters.withoutInnerParameters : name
    }

    fileprivate var locationInShort: String? {
        guard let file else { return nil }
        return line.map { "\(file.lastPathPart):\($0)" } ?? file.lastPathPart
    }
}

extension Crash {
    /// Both of two overlapping accesses of Swift; nil: it is no such crash.
    private var accessWords: String? {
        guard let message = messages?.first(where: { $0.earlierAccessAddress != nil }) else { return nil }
        let kinds = message.text.split(separator: ";").compactMap { $0.split(separator: "(").last?.split(separator: ")").first }
        guard kinds.count == 2, let what else { return nil }
        let began = message.earlierAccess?.symbols?.last.map { " that began in \($0.name.functionInShort)" + ($0.locationInShort.map { " (\($0))" } ?? "") }
        return "\(what): \(kinds[0]) during \(kinds[1])\(began ?? "")"
    }

    /// C++ exceptions with what they say, the outermost first; nil: there is none.
    private var thrownWords: String? {
        var causes: [String] = []
        for message in messages ?? [] {
            if message.source == .cppType { causes.append("exception of type \((message.demangled ?? message.text).withoutNesting)") }
            if message.source == .cppWhat, !causes.isEmpty { causes[causes.count - 1] += ": \(message.text)" }
        }
        return causes.isEmpty ? nil : causes.joined(separator: ", caused by an ")
    }
}

extension Message {
    /// The text without the words that each message of its runtime has, and the place in the source
    /// that it names. `assert()` and Swift begin with that place.
    var spoken: (words: String, location: String?)? {
        var text = text[...]
        while let first = text.first, first.isNewline { text.removeFirst() }
        guard !text.isEmpty else { return nil }
        if source == .libc, let assertion = text.firstRange(of: ": Assertion `"), let end = text.range(of: "' failed.", after: assertion.upperBound) {
            let program = text.firstRange(of: ": ")?.upperBound ?? text.startIndex
            let location = text[program..<assertion.lowerBound].place.map { String($0.location).lastPathPart }
            return ("assertion `\(text[assertion.upperBound..<end.lowerBound])' failed", location)
        }
        if source == .libc, text.hasPrefix("*** ") {
            return (String(text.dropFirst(4)).replacing(" ***: terminated", with: ""), nil)
        }
        if source == .glib, let mark = text.firstRange(of: "ERROR:"), let place = text[mark.upperBound...].glibPlace { return (String(place.rest), String(place.location)) }
        guard source == .swift else { return (String(text), nil) }
        let place = text.place
        let location = place.flatMap { $0.location.hasPrefix("Swift/") ? nil : String($0.location).lastPathPart }
        let rest = place?.rest ?? text
        return (String(rest.hasPrefix("Fatal error: ") ? rest.dropFirst("Fatal error: ".count) : rest), location)
    }
}

extension String {
    /// The first line that says something, of at most 300 letters.
    var inOneLine: String {
        let line = split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.count > 300 ? line.prefix(300) + "…" : line
    }

    /// The name of a C++ function without its parameters.
    fileprivate var withoutParameters: String {
        let trimmed = hasSuffix(" const") ? dropLast(" const".count) : self[...]
        guard trimmed.hasSuffix(")"), !trimmed.hasSuffix("operator()") else { return self }
        var depth = 0
        for index in trimmed.indices.reversed() {
            depth += trimmed[index] == ")" ? 1 : trimmed[index] == "(" ? -1 : 0
            guard depth == 0 else { continue }
            let name = trimmed[..<index]
            if name.isEmpty || name.hasSuffix("::") { return self }
            // The lambda is the function; how it is called says nothing.
            return name.hasSuffix("::operator()") && name.contains("lambda") ? String(name.dropLast("::operator()".count)) : String(name)
        }
        return self
    }

    /// The scope of a lambda without the parameters of its functions:
    /// `Server::answer::{lambda(int)#1}`.
    fileprivate var withoutInnerParameters: String {
        guard contains("::{lambda"), let begin = firstIndex(of: "("), begin > startIndex, !self[..<begin].hasSuffix("::"), !self[..<begin].hasSuffix("lambda")
        else { return self }
        var depth = 0
        for index in self[begin...].indices {
            depth += self[index] == "(" ? 1 : self[index] == ")" ? -1 : 0
            if depth == 0 { return String(self[..<begin] + self[self.index(after: index)...]) }
        }
        return self
    }

    /// The type that was thrown with its cause.
    fileprivate var withoutNesting: String {
        let text = "basic_string<char, std::char_traits<char>, std::allocator<char> >"
        if self == "std::__cxx11::" + text || self == "std::__1::" + text.replacing("std::", with: "std::__1::") { return "std::string" }
        let nested = "std::_Nested_exception<", other = "std::__1::__nested<"
        for prefix in [nested, other] where hasPrefix(prefix) && hasSuffix(">") { return String(dropFirst(prefix.count).dropLast()) }
        return self
    }
}

extension Substring {
    /// The file and the line that a text begins with, as in "main.swift:5: no notes", and the rest.
    fileprivate var place: (location: Substring, rest: Substring)? {
        guard let end = firstRange(of: ": "), let colon = self[..<end.lowerBound].lastIndex(of: ":") else { return nil }
        let line = self[index(after: colon)..<end.lowerBound]
        guard !line.isEmpty, line.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return (self[..<end.lowerBound], self[end.upperBound...])
    }

    /// GLib has the function after the line: "main.c:12:main: no notes".
    fileprivate var glibPlace: (location: Substring, rest: Substring)? {
        guard let end = firstRange(of: ": "), let colon = self[..<end.lowerBound].lastIndex(of: ":") else { return nil }
        return (self[..<colon], self[end.upperBound...])
    }

    fileprivate func range(of text: String, after index: Index) -> Range<Index>? { self[index...].firstRange(of: text) }
}
