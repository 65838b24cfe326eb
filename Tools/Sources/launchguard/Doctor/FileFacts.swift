#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel

/// Facts from the system about a file.
struct FileFacts {
    let mode: mode_t
    let owner: uid_t
    /// Its file system as "major:minor".
    let device: String

    /// Nil: it is not there, or may not be asked for.
    init?(_ path: String, followingLinks: Bool = true) {
        var status = stat()
        guard unsafe ReportPath.withCString(path, { unsafe followingLinks ? stat($0, &status) : lstat($0, &status) }) == 0 else { return nil }
        mode = status.st_mode
        owner = status.st_uid
        let number = UInt64(status.st_dev)
        let major = number >> 8 & 0xFFF | number >> 32 & 0xFFFF_F000, minor = number & 0xFF | number >> 12 & 0xFFFF_FF00
        device = "\(major):\(minor)"
    }

    private var kind: mode_t { mode & S_IFMT }
    var isFolder: Bool { kind == S_IFDIR }
    var isLink: Bool { kind == S_IFLNK }
    var isRegular: Bool { kind == S_IFREG }

    static func may(_ access: Int32, _ path: String) -> Bool {
        unsafe ReportPath.withCString(path) { unsafe faccessat(AT_FDCWD, $0, access, AT_EACCESS) } == 0
    }

    /// The path and all folders that it is in, the root first.
    static func prefixes(of path: String) -> [String] {
        var parts: [String] = path.hasPrefix("/") ? ["/"] : ["."]
        var prefix = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") where part != "." {
            prefix += "/" + part
            parts.append(prefix)
        }
        return parts
    }
}
#endif
