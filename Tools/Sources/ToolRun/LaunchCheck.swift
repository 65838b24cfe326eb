#if os(Linux)
import ArgumentParser
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel

/// How a supervisor finds out that a program works: `tcp:PORT`, `tcp:HOST:PORT`, `file:PATH` or
/// `command:COMMAND`.
enum LaunchCheck: ExpressibleByArgument {
    /// Something accepts connections there.
    case tcp(host: String, port: UInt16)
    /// The file was written since the start.
    case file(String)
    /// The command for /bin/sh ends with status 0.
    case command(String)

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        let value = String(argument[argument.index(after: colon)...])
        guard !value.isEmpty else { return nil }
        switch argument[..<colon] {
        case "tcp":
            let parts = value.lastIndex(of: ":").map { (String(value[..<$0]), value[value.index(after: $0)...]) } ?? ("127.0.0.1", value[...])
            guard let port = UInt16(parts.1), port > 0, !parts.0.isEmpty else { return nil }
            self = .tcp(host: parts.0.trimming("[", "]"), port: port)
        case "file": self = .file(value.absolute)
        case "command": self = .command(value)
        default: return nil
        }
    }

    /// Whether the program works. `start` is its start on the wall clock. A command answers later.
    func isPassed(since start: timespec) -> Bool {
        switch self {
        case .tcp(let host, let port):
            return unsafe ReportPath.withCString(host) { unsafe lg_shim_accepts($0, UInt32(port)) } != 0
        case .file(let path):
            var status = stat()
            guard unsafe ReportPath.withCString(path, { unsafe stat($0, &status) }) == 0 else { return false }
            // File systems keep coarser times than the clock.
            return status.st_mtim.tv_sec > start.tv_sec - 2
        case .command:
            return false
        }
    }
}

extension String {
    fileprivate func trimming(_ first: Character, _ last: Character) -> String {
        hasPrefix(String(first)) && hasSuffix(String(last)) ? String(dropFirst().dropLast()) : self
    }
}
#endif
