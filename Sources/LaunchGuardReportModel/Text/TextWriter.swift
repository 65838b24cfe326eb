/// Builds text for people. Everything that goes in is escaped, so that nothing from a file can
/// reach a terminal as a control sequence; colours and line ends come from the writer alone.
public struct TextWriter: Sendable {
    /// The text in UTF-8.
    public private(set) var bytes: [UInt8] = []
    /// Whether styles become terminal sequences.
    public let isColored: Bool
    /// The columns of a line: a longer one is cut, and ends with "…"; nil: no line is cut.
    public let columns: Int?
    private var lineStart = 0

    public init(isColored: Bool = false) {
        self.init(isColored: isColored, columns: nil)
    }

    /// - Parameters:
    ///   - isColored: whether styles become terminal sequences.
    ///   - columns: of a line; nil: no line is cut.
    public init(isColored: Bool, columns: Int?) {
        self.isColored = isColored
        self.columns = columns
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// A time span as a person reads it, for example "1.402 s".
    public static func duration(nanoseconds: UInt64) -> String { nanoseconds.durationText }

    /// Forget the text, which is written elsewhere.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        lineStart = 0
    }

    /// How a piece of text looks on a terminal.
    public enum Style: String, Sendable {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case red = "1;31"
        case green = "32"
        case yellow = "33"
    }

    /// Append a piece of text.
    public mutating func add(_ piece: String, _ style: Style = .plain) {
        styled(style) { $0.append(piece) }
    }

    private mutating func append(_ piece: String) {
        let isDone = unsafe piece.utf8.withContiguousStorageIfAvailable { text in
            let isPlain = unsafe String.isPlain(text)
            if isPlain { unsafe bytes.append(contentsOf: text) }
            return isPlain
        }
        if isDone != true { bytes += Self.escaped(piece).utf8 }
    }

    /// Append pieces that look the same.
    mutating func styled(_ style: Style, _ write: (inout TextWriter) -> Void) {
        guard isColored, style != .plain else { return write(&self) }
        bytes += "\u{1B}[\(style.rawValue)m".utf8
        write(&self)
        bytes += "\u{1B}[0m".utf8
    }

    /// Append a piece of text, filled up with spaces to a width.
    public mutating func add(_ piece: String, width: Int, _ style: Style = .plain) {
        let safe = Self.escaped(piece)
        styled(style) { $0.bytes += safe.utf8 }
        let count = safe.isPlain ? safe.utf8.count : safe.count
        for _ in 0..<max(0, width - count) { bytes.append(UInt8(ascii: " ")) }
    }

    /// End the line.
    public mutating func endLine() {
        if let columns, bytes.count - lineStart > columns { cutLine(to: columns) }
        bytes.append(UInt8(ascii: "\n"))
        lineStart = bytes.count
    }

    private mutating func cutLine(to columns: Int) {
        let line = Self.cut(String(decoding: bytes[lineStart...], as: UTF8.self), to: columns)
        bytes.replaceSubrange(lineStart..., with: line.utf8)
    }

    /// Append a whole line.
    public mutating func line(_ piece: String, _ style: Style = .plain) {
        add(piece, style)
        endLine()
    }

    /// An empty line and the heading of a section.
    public mutating func heading(_ title: String) {
        endLine()
        line(title, .bold)
    }

    /// Text without control characters: they become `\xNN`, as do bytes of a path that are no part
    /// of UTF-8, and characters that change the direction or hide text `\u{N}`.
    public static func escaped(_ text: String) -> String {
        guard !text.isPlain, text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if !isUnsafe(scalar) {
                result.unicodeScalars.append(scalar)
            } else if let byte = ReportPath.byte(scalar) ?? UInt8(exactly: scalar.value) {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            } else {
                result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            }
        }
        return result
    }

    /// Whether a terminal may take a character for a command, or show it in a way that misleads.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

extension String {
    /// Whether it holds printable ASCII alone, which is almost every text and needs no other look.
    var isPlain: Bool {
        unsafe utf8.withContiguousStorageIfAvailable(Self.isPlain) ?? utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }

    static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // No way out of the loop: so it takes many bytes at a time.
        unsafe text.reduce(into: UInt8(0)) { $0 |= $1 &- 0x20 > 0x5E ? 1 : 0 } == 0
    }
}

extension UInt64 {
    /// The number with its noun, for example "1 frame".
    func counting(_ singular: String, _ plural: String) -> String {
        "\(self) \(self == 1 ? singular : plural)"
    }

    /// A time span in nanoseconds as a person reads it, for example "1.402 s".
    var durationText: String {
        func decimal(_ unit: UInt64, _ name: String) -> String {
            let thousandths = String(self % unit * 1000 / unit)
            return "\(self / unit).\(String(repeating: "0", count: 3 - thousandths.count))\(thousandths) \(name)"
        }
        let seconds = self / 1_000_000_000
        switch self {
        case ..<1_000_000: return decimal(1000, "µs")
        case ..<1_000_000_000: return decimal(1_000_000, "ms")
        case ..<60_000_000_000: return decimal(1_000_000_000, "s")
        case ..<3_600_000_000_000: return "\(seconds / 60) min \(seconds % 60) s"
        default: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        }
    }
}
