#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel

/// Why the loader gives the preload library no place in a program.
package enum PreloadObstacle {
    /// The program is static: nothing is loaded into it.
    case isStatic
    /// The program is for another machine, and so is its loader.
    case isForeign
    /// The program's loader is not glibc's, which the library needs.
    case hasOtherLoader(String)
    /// The program gets more rights than its caller, and the loader ignores the caller's wishes.
    case hasMoreRights
    /// The program simulates the one that it is given, and reports all that the library would do.
    case isSimulator

    /// The obstacle of a program, not of a script's interpreter; nil: there is none, or the file
    /// does not say.
    package init?(_ path: String) {
        if path.split(separator: "/").last == "valgrind" {
            self = .isSimulator
            return
        }
        guard let head = ProgramHead(path, size: 64), head.bytes.starts(with: [0x7F] + "ELF".utf8) else { return nil }
        guard head.bytes.count == 64, head.bytes[4] == 2, head.bytes[5] == 1, head.number(at: 18, as: UInt16.self) == Self.machine else {
            self = .isForeign
            return
        }
        guard let loader = Self.loader(path, head) else {
            // The loader names none. It loads the program that its arguments name.
            if Self.isLoader(path) { return nil }
            self = .isStatic
            return
        }
        if !Self.isLoader(loader) {
            self = .hasOtherLoader(loader)
        } else if Self.getsMoreRights(path) {
            self = .hasMoreRights
        } else {
            return nil
        }
    }

    /// For `PROGRAM: it …`.
    package var text: String {
        switch self {
        case .isStatic: "is statically linked"
        case .isForeign: "is made for another machine"
        case .hasOtherLoader(let loader): "is loaded by \(loader)"
        case .hasMoreRights: "has more rights than its caller"
        case .isSimulator: "simulates the program that it runs"
        }
    }

    /// Whether programs that it starts can take the library all the same.
    var leavesChildren: Bool {
        switch self {
        case .isStatic, .hasMoreRights, .isSimulator: true
        case .isForeign, .hasOtherLoader: false
        }
    }

    /// The number of this machine in the header of a program.
    private static var machine: UInt16 {
        #if arch(x86_64)
        62
        #else
        183  // AArch64
        #endif
    }

    /// Whether a path leads to glibc's loader.
    private static func isLoader(_ path: String) -> Bool {
        let target = unsafe ReportPath.withCString(path) { unsafe realpath($0, nil) }
        defer { unsafe free(target) }
        let names = [path, unsafe target.map { unsafe String(cString: $0) }].compactMap(\.self)
        return names.contains { ($0.split(separator: "/").last ?? "").hasPrefix("ld-linux") }
    }

    /// The loader that the program names; nil: none.
    private static func loader(_ path: String, _ head: ProgramHead) -> String? {
        guard let table = head.number(at: 32, as: UInt64.self), let size = head.number(at: 54, as: UInt16.self), let count = head.number(at: 56, as: UInt16.self),
            size >= 56, let rows = ProgramHead(path, offset: table, size: min(Int(size) * Int(count), 65536))
        else { return nil }
        for row in stride(from: 0, to: rows.bytes.count, by: Int(size)) where rows.number(at: row, as: UInt32.self) == 3 {
            guard let place = rows.number(at: row + 8, as: UInt64.self), let text = ProgramHead(path, offset: place, size: 256) else { return nil }
            return ReportPath.text(text.bytes.prefix { $0 != 0 })
        }
        return nil
    }

    /// Set-user-ID, set-group-ID or capabilities of the file, as far as they change anything.
    private static func getsMoreRights(_ path: String) -> Bool {
        if geteuid() != getuid() || getegid() != getgid() { return true }
        var status = stat()
        var system = statvfs()
        guard unsafe ReportPath.withCString(path, { unsafe stat($0, &status) }) == 0,
            unsafe ReportPath.withCString(path, { unsafe statvfs($0, &system) }) == 0, system.f_flag & UInt(ST_NOSUID) == 0
        else { return false }
        if status.st_mode & S_ISUID != 0, status.st_uid != getuid() { return true }
        if status.st_mode & (S_ISGID | S_IXGRP) == S_ISGID | S_IXGRP, status.st_gid != getgid() { return true }
        return unsafe getuid() != 0 && ReportPath.withCString(path) { unsafe lg_shim_has_capabilities($0) } != 0
    }
}
#endif
