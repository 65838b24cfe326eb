/// A message from before the end.
public struct Message: Codable, Hashable, Sendable {
    public var source: Source
    /// The text as it was said; bytes that are not UTF-8 became U+FFFD.
    public var text: String
    /// Whether there was more than the record had room for.
    public var isCut: Bool
    /// The C++ type as a person writes it, where `text` is its mangled name.
    public var demangled: String?
    /// Where the earlier one of two overlapping accesses of Swift began; known once there are
    /// symbols.
    public var earlierAccess: Frame?

    public init(source: Source, text: String, isCut: Bool = false, demangled: String? = nil) {
        self.source = source
        self.text = text
        self.isCut = isCut
        self.demangled = demangled
    }

    /// The source of the message. A source that this version does not know is its number.
    public struct Source: RawRepresentable, Codable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// `assert`, and the checks of FORTIFY, heap and stack.
        public static let libc = Source(rawValue: "libc")
        /// The Swift runtime.
        public static let swift = Source(rawValue: "swift")
        /// The mangled type name of the C++ exception that was not caught.
        public static let cppType = Source(rawValue: "cpp-type")
        /// Its `what()`.
        public static let cppWhat = Source(rawValue: "cpp-what")
        /// A failed check of GLib.
        public static let glib = Source(rawValue: "glib")
        /// Standard error.
        public static let standardError = Source(rawValue: "stderr")
        /// The guard that ended the program.
        public static let `guard` = Source(rawValue: "guard")
    }
}

extension Crash {
    /// The last message before the end, in one line: the words of the program, of a C++ exception
    /// with its type, or of the Swift compiler.
    public var said: String? {
        guard let messages, !messages.isEmpty else { return message }
        let type = messages.first { $0.source == .cppType }.map { $0.demangled ?? $0.text }
        let words = messages.first { $0.source != .cppType }?.text.split(separator: "\n").first.map(String.init)
        return [type, words].compactMap(\.self).joined(separator: ": ").nonEmpty
    }
}

extension Message {
    /// The address at which the earlier of two overlapping accesses began: of the instruction after
    /// its call.
    public var earlierAccessAddress: Address? {
        guard source == .swift, let mark = text.firstRange(of: " started at 0x") else { return nil }
        return UInt64(text[mark.upperBound...], radix: 16).map { Address($0) }
    }
}

extension RunReport {
    /// What was said before the end, in one line: by the crash that it ended by, or on standard
    /// error.
    public var said: String? { fatalCrash?.said ?? lastWords?.text.inOneLine }
}

extension Message {
    /// The name of the source in a report.
    var label: String {
        switch source {
        case .libc: "libc"
        case .swift: "swift"
        case .cppType: "exception"
        case .cppWhat: "what()"
        case .guard: "guard"
        case .glib: "glib"
        case .standardError: "stderr"
        default: "source \(source.rawValue)"
        }
    }

    /// The message with its source. Its further lines are indented, so that none can pass for a
    /// line of the report.
    func write(to writer: inout TextWriter) {
        var lines = (demangled ?? text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        if let place = earlierAccess?.descriptions.first, lines.count == 1 { lines[0] += " \(place)" }
        for (index, line) in lines.enumerated() {
            writer.add("  ")
            writer.add(index == 0 ? label + ":" : "", width: 11, .dim)
            writer.line(line)
        }
        if isCut { writer.line("             … the record had no room for the rest of this message", .yellow) }
    }
}
