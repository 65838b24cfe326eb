#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolRun

/// The file system of the state directory: space, inodes, kind.
enum SpaceCheck {
    /// A run file with the usual options is smaller.
    private static let wholeRun: UInt64 = 1 << 20
    /// The ledger and the smallest run file.
    private static let least: UInt64 = 256 << 10
    private static let leastFiles: UInt64 = 4
    private static let fewFiles: UInt64 = 64

    private enum Kind {
        case memory, layer, remote
    }

    /// By their names in /proc/self/mountinfo; "fuse" also begins "fuse.sshfs".
    private static let kinds: [String: Kind] = [
        "tmpfs": .memory, "ramfs": .memory, "overlay": .layer, "nfs": .remote, "nfs4": .remote, "cifs": .remote, "smb3": .remote, "9p": .remote,
        "ceph": .remote, "fuse": .remote,
    ]

    static func findings(_ path: String) -> [Finding] {
        guard let place = FileFacts.prefixes(of: path).last(where: { FileFacts($0) != nil }) else { return [] }
        var space = statvfs()
        guard unsafe ReportPath.withCString(place, { unsafe statvfs($0, &space) }) == 0 else { return [] }
        let isReadOnly: UInt = 1  // ST_RDONLY, which is no number of this type in every C library
        if space.f_flag & isReadOnly != 0 {
            return [Finding(.error, "space.read-only", "\(place) is on a read-only file system", "choose a directory on a writable one")]
        }
        return room(place, space) + kind(place) + sharing(place)
    }

    private static func room(_ place: String, _ space: statvfs) -> [Finding] {
        var findings: [Finding] = []
        let free = UInt64(space.f_bavail) * UInt64(space.f_frsize)
        if free < wholeRun {
            findings.append(
                Finding(
                    free < least ? .error : .warning, "space.full", "\(free >> 10) KiB are free at \(place)",
                    "free at least \(wholeRun >> 20) MiB for each run that is to be kept whole"))
        }
        // Some file systems make inodes as they need them, and say that there is none.
        if space.f_files > 0, UInt64(space.f_favail) < fewFiles {
            let isLast = UInt64(space.f_favail) < leastFiles
            findings.append(
                Finding(
                    isLast ? .error : .warning, "space.inodes", "\(space.f_favail) inodes are free at \(place)",
                    "delete files there, or make the file system with more inodes"))
        }
        return findings
    }

    private static func kind(_ place: String) -> [Finding] {
        guard let name = name(place), let kind = kinds[name] ?? kinds[String(name.prefix { $0 != "." })] else { return [] }
        return switch kind {
        case .memory:
            [
                Finding(
                    .warning, "filesystem.memory", "\(place) is on \(name), which is empty after a reboot: counters and records are lost with it",
                    "choose a directory on a disk, for example below /var/lib")
            ]
        case .layer:
            [
                Finding(
                    .warning, "filesystem.layer", "\(place) is on \(name): where that is the layer of a container, counters and records go with the container",
                    "mount a volume there")
            ]
        case .remote:
            [
                Finding(
                    .warning, "filesystem.remote",
                    "\(place) is on \(name): a crash whose pages do not arrive is ended by its deadline, and a death of the machine loses more than on a disk",
                    "choose a directory on a local disk")
            ]
        }
    }

    private static func sharing(_ place: String) -> [Finding] {
        let error = unsafe ReportPath.withCString(place) { unsafe lg_shim_shares_files($0) }
        guard error > 0 else { return [] }
        return [
            Finding(
                .error, "filesystem.sharing", "programs cannot share the memory of files at \(place) (\(RunError.reason(error))), and records need that",
                "choose a directory on another file system, for example below /var/lib")
        ]
    }

    /// The name of the file system that a path is on, for example "ext4".
    private static func name(_ place: String) -> String? {
        guard let device = FileFacts(place)?.device, let mounts = SystemFile.text("/proc/self/mountinfo", limit: 1 << 20) else { return nil }
        // Number, parent, major:minor, root, place, options, more options, "-", name, …
        let lines = mounts.split(separator: "\n").map { $0.split(separator: " ") }
        guard let line = lines.last(where: { $0.count > 2 && $0[2] == device }), let dash = line.firstIndex(of: "-"), dash + 1 < line.count else { return nil }
        return String(line[dash + 1])
    }
}
#endif
