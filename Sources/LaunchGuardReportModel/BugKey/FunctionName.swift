/// Names of functions as a key has them: without what compilers, versions and arguments of
/// templates add.
enum FunctionName {
    /// - Parameter outer: the function into which it is inlined. A lambda is "operator()" there.
    static func normalised(_ symbol: Symbol, in outer: Symbol? = nil) -> String {
        let mangled = symbol.mangledName ?? symbol.name
        var name = withoutArguments(symbol.name)
        if mangled.hasPrefix("$s") || mangled.hasPrefix("$S") || mangled.hasPrefix("$e") {
            name = ofSwift(name)
        } else if mangled.hasPrefix("_Z") {
            name = ofCPlusPlus(name)
            // A function that no other file can call: inlined, it has its bare name.
            let lambdas = name.hasSuffix("::lambda") ? "::lambda" : ""
            let last = String(name.dropLast(lambdas.count).split(separator: ":").last ?? "")
            if mangled.contains("L\(last.utf8.count)\(last)") { name = last + lambdas }
        } else if symbol.mangledName == nil {
            name = ofC(name)
            if name == "operator()", symbol.isInlined, let outer { name = "\(normalised(outer))::lambda" }
        }
        return name.isEmpty ? symbol.name : name
    }

    // MARK: - Languages

    /// Without the number that a linker adds to one of several functions of one name.
    private static func ofC(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex, name[dot...].dropFirst().allSatisfy(\.isNumber) else { return name }
        return String(name[..<dot])
    }

    private static let swiftWords = [
        "generic specialization of ", "specialized ", "merged ", "partial apply forwarder for ", "partial apply for ", "partial apply of ", "reabstraction thunk for ",
        "implicit ", "protocol witness for ", "await resume partial function for ", "suspend resume partial function for ", "dispatch thunk of ", "@objc ",
        "static ", "default argument of ",
    ]

    /// Copies and parts of a function have its name.
    private static func ofSwift(_ text: String) -> String {
        var name = text[...]
        var isChanged = true
        while isChanged {
            isChanged = false
            if name.hasPrefix("("), let end = name.firstRange(of: ") "), name.dropFirst().prefix(upTo: end.lowerBound).allSatisfy(\.isNumber) {
                name = name[end.upperBound...]
                isChanged = true
            }
            for words in swiftWords where name.hasPrefix(words) {
                name = name.dropFirst(words.count)
                isChanged = true
            }
        }
        if let conformance = name.firstRange(of: " in conformance ") { name = name[..<conformance.lowerBound] }
        return String(name)
    }

    /// Without the type of the result, the parameters and anonymous namespaces, and with one name
    /// for lambdas: `f()::{lambda(int)#1}::operator()(int) const` of gcc and
    /// `f()::$_0::operator()(int) const` of clang are `f::lambda`.
    private static func ofCPlusPlus(_ text: String) -> String {
        var text = text.replacing("(anonymous namespace)", with: "{anonymous}")
        let mark = "{anonymous}::"
        // Of the function itself, not of a type among its parameters.
        if let last = text[..<(text.firstIndex(of: "(") ?? text.endIndex)].ranges(of: mark).last { text = String(text[last.upperBound...]) }
        text = text.replacing(mark, with: "")
        for space in ["__cxx11::", "__1::", "[abi:cxx11]"] { text = text.replacing(space, with: "") }
        var name = "", level = 0
        var rest = text[...]
        while let character = rest.first {
            if level == 0, rest.hasPrefix("operator()") {
                name += "operator()"
                rest = rest.dropFirst("operator()".count)
            } else if level == 0, rest.hasPrefix("{lambda(") || rest.hasPrefix("$_"), let end = rest.firstIndex(where: { $0 == "}" || $0 == ":" }) {
                name += "lambda"
                rest = rest[end...].drop { $0 == "}" }
            } else {
                rest = rest.dropFirst()
                if "([{".contains(character) { level += 1 }
                if level == 0 { name.append(character) }
                if ")]}".contains(character) { level -= 1 }
            }
        }
        guard level == 0 else { return text }
        for word in [" const", " volatile", " &&", " &", " noexcept"] where name.hasSuffix(word) { name.removeLast(word.count) }
        let end = name.firstRange(of: "operator")?.lowerBound ?? name.endIndex
        if let space = name[..<end].lastIndex(of: " ") { name = String(name[name.index(after: space)...]) }
        if let call = name.firstRange(of: "lambda::operator()") { name = name[..<call.lowerBound] + "lambda" }
        return name
    }

    /// Without the arguments of templates and generic functions. A name of Rust may begin with a
    /// type in such brackets, whose own arguments alone go.
    static func withoutArguments(_ name: String) -> String {
        var result = "", level = 0
        var rest = name[...]
        while let character = rest.first {
            if level == 0, result.hasSuffix("operator"), let sign = ["<=>", "<<=", "<<", "<=", "->*", "->", ">>=", ">>", ">=", "<", ">"].first(where: rest.hasPrefix) {
                result += sign
                rest = rest.dropFirst(sign.count)
                if rest.hasPrefix(" <") {
                    level = 1
                    rest = rest.dropFirst(2)
                }
                continue
            }
            rest = rest.dropFirst()
            let last = result.last ?? " "
            if level == 0, rest.first == ">", character == "-" {
                result += "->"
                rest = rest.dropFirst()
            } else if character == "<", level > 0 || last.isLetter || last.isNumber || "_:$)".contains(last) {
                if level == 0, result.hasSuffix("::") { result.removeLast(2) }
                level += 1
            } else if character == ">", level > 0 {
                level -= 1
            } else if level == 0 {
                result.append(character)
            } else if character == "-", rest.first == ">" {
                rest = rest.dropFirst()
            }
        }
        return level == 0 ? result : name
    }

    // MARK: - Helpers

    /// Whether a function only ends the program for its caller, as `die()` does: by its name, all
    /// of whose words are in one of two lists, and one in the first.
    static func endsProgram(_ name: String) -> Bool { isMade(of: ends, or: fillers, name) }

    /// Whether a function only waits for its caller, as `Lock.acquire()` does.
    static func waits(_ name: String) -> Bool { isMade(of: waiting, or: fillers, name) }

    /// Whether a function passes on to the library's function that it called, as `xstrdup()` does.
    static func wraps(_ name: String, _ called: String) -> Bool {
        let function = called.drop { $0 == "_" }.prefix { $0 != "_" && $0 != "(" }.lowercased()
        let own = name.prefix { $0 != "(" }.lowercased()
        return function.count > 3 && own.hasSuffix(function)
    }

    private static let ends: Set<String> = [
        "abort", "assert", "assertion", "bail", "bug", "crash", "die", "exit", "fail", "failed", "failure", "fatal", "oom", "panic", "quit", "raise", "report", "terminate", "throw",
        "unreachable", "vdie", "vfatal", "xdie",
    ]
    private static let waiting: Set<String> = ["acquire", "await", "enter", "join", "lock", "poll", "select", "sleep", "wait"]
    private static let fillers: Set<String> = [
        "alloc", "and", "app", "badly", "code", "condition", "do", "err", "error", "errno", "exception", "f", "for", "handler", "if", "impl", "internal", "invalid", "log", "logged",
        "memory", "message", "msg", "mutex", "my", "not", "now", "null", "of", "on", "or", "out", "printf", "program", "queue", "reached", "state", "status", "system", "text", "the",
        "thread", "to", "v", "va", "with", "x", "xalloc",
    ]

    private static func isMade(of list: Set<String>, or fillers: Set<String>, _ name: String) -> Bool {
        let words = words(of: name)
        return !words.isEmpty && words.contains(where: list.contains) && words.allSatisfy { list.contains($0) || fillers.contains($0) }
    }

    /// The words of the last part of a name: `Log::die_withError(int)` has die, with, error.
    private static func words(of name: String) -> [String] {
        let path = name.prefix { $0 != "(" }
        let last = path.split { ":.".contains($0) }.last ?? path
        var words: [String] = [], word = ""
        for character in last {
            if character == "_" || character.isUppercase, !word.isEmpty, word.last?.isUppercase != true || character == "_" {
                words.append(word.lowercased())
                word = ""
            }
            if character != "_" { word.append(character) }
        }
        return word.isEmpty ? words : words + [word.lowercased()]
    }
}
