/// The last words of the process on standard error.
public struct StandardError: Codable, Hashable, Sendable {
    public var text: String
    /// Bytes written in all; those before `text` are gone.
    public var totalBytes: UInt64
    /// The number of earlier bytes that are lost.
    public var omittedBytes: UInt64

    public init(text: String, totalBytes: UInt64, omittedBytes: UInt64 = 0) {
        self.text = text
        self.totalBytes = totalBytes
        self.omittedBytes = omittedBytes
    }

    /// The last lines, each escaped.
    func write(to writer: inout TextWriter, limit: Int) {
        writer.heading("standard error")
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        if omittedBytes > 0 { writer.line("  … \(omittedBytes.counting("byte", "bytes")) before are gone", .dim) }
        if lines.count > limit { writer.line("  … \(UInt64(lines.count - limit).counting("line", "lines")) before not shown", .dim) }
        for line in lines.suffix(limit) { writer.line("  \(line)") }
    }
}
