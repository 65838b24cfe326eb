#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel

/// Small text files of /proc.
enum SystemFile {
    /// The first bytes; nil: it is not there, or may not be read.
    static func text(_ path: String, limit: Int = 65536) -> String? {
        let file = unsafe ReportPath.withCString(path) { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: min(limit, 4096))
        // The kernel gives such files in pieces.
        while text.count < limit {
            let count = unsafe read(file, &bytes, min(bytes.count, limit - text.count))
            if count < 0 { return nil }
            if count == 0 { break }
            text += bytes.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The value in a line "name: value".
    static func field(_ name: String, of path: String) -> String? {
        let line = text(path)?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " || $0 == "\t" }) }
    }
}
#endif
