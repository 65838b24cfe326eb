/// Builds text for people. Everything that goes in is escaped, so that nothing from a file can
/// reach a terminal as a control sequence; colours and line ends come from the writer alone.
public struct TextWriter: Sendable {
    public private(set) var text = ""
    /// Whether styles become terminal sequences.
    public let isColored: Bool

    public init(isColored: Bool = false) {
        self.isColored = isColored
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
        let safe = Self.escaped(piece)
        text += isColored && style != .plain ? "\u{1B}[\(style.rawValue)m\(safe)\u{1B}[0m" : safe
    }

    /// Append a piece of text, filled up with spaces to a width.
    public mutating func add(_ piece: String, width: Int, _ style: Style = .plain) {
        add(piece, style)
        text += String(repeating: " ", count: max(0, width - Self.escaped(piece).count))
    }

    /// End the line.
    public mutating func endLine() {
        text += "\n"
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

    /// Text without control characters: they become `\xNN`, characters that change the direction or
    /// hide text `\u{N}`.
    public static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if !isUnsafe(scalar) {
                result.unicodeScalars.append(scalar)
            } else if scalar.value < 0x100 {
                let digits = String(scalar.value, radix: 16, uppercase: true)
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

extension UInt64 {
    /// The number with its noun, for example "1 frame".
    func counting(_ singular: String, _ plural: String) -> String {
        "\(self) \(self == 1 ? singular : plural)"
    }

    /// A time span in nanoseconds as a person reads it, for example "1.402 s".
    package var durationText: String {
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
