extension TextWriter {
    /// The begin of a line that is wider than the columns, with "…" at the end. The line may hold
    /// styles, and ends plain.
    public static func cut(_ line: String, to columns: Int) -> String {
        var width = 0
        var isStyled = false
        // The end of the last piece after which there is room for the "…".
        var end = line.startIndex
        var endIsStyled = false
        var index = line.startIndex
        while index < line.endIndex {
            if line[index] == "\u{1B}" {
                let sequence = line[index...].prefix { $0 != "m" }
                isStyled = !sequence.hasSuffix("[0")
                index = line.index(after: sequence.endIndex)
            } else {
                width += columnCount(of: line[index])
                index = line.index(after: index)
            }
            if width > columns { return line[..<end] + "…" + (endIsStyled ? "\u{1B}[0m" : "") }
            if width < columns { (end, endIsStyled) = (index, isStyled) }
        }
        return line
    }

    /// The columns that a terminal gives to a character: two to those of East Asia and to pictures.
    private static func columnCount(of character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
