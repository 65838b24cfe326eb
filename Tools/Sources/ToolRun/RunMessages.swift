#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// Messages of `launchguard run`: on standard error, or in the file of `--log`.
struct RunMessages {
    /// The file; nil: standard error.
    let path: String?
    let isQuiet: Bool

    /// The descriptor that a message after the program's start needs; -1: none.
    var descriptor: Int32 { isQuiet || path != nil ? -1 : Output.Stream.error.rawValue }

    /// Write a line, unless the user wants none. Standard error is at another number once the
    /// program runs.
    func say(_ message: String, descriptor: Int32 = Output.Stream.error.rawValue) {
        guard !isQuiet else { return }
        let line = Array("launchguard: \(TextWriter.escaped(message))\n".utf8)
        guard let path else { return put(line, descriptor) }
        let file = unsafe ReportPath.withCString(path) { unsafe open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600) }
        guard file >= 0 else { return put(line, descriptor) }
        defer { close(file) }
        put(line, lg_shim_has_room(file, line.count) != 0 ? file : descriptor)
    }

    /// In one piece: the file may have other writers.
    private func put(_ line: [UInt8], _ descriptor: Int32) {
        guard lg_shim_has_room(descriptor, line.count) != 0 else { return }
        _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}
#endif
