#if os(Linux)
import LaunchGuard
import LaunchGuardPlatform
import LaunchGuardReports

/// Stores how processes ended in the files of their runs.
final class RunWitness {
    /// The folder in which each program has its state directory, or one state directory; nil: none
    /// is known.
    private let root: String?
    /// What is known of each run file, by path. A file of a run never becomes that of another one.
    private var files: [String: Owner] = [:]

    private enum Owner {
        /// The file was there before the program.
        case earlier
        case process(id: Int32, startTicks: UInt64, moment: UInt64)
    }

    /// Made before the program starts. `directory` is the folder of `--directory`; without it the
    /// usual one.
    init(_ directory: String?) {
        let probe = "launchguard-run"
        if let directory = directory ?? Output.variable("LAUNCHGUARD_DIRECTORY"), !directory.isEmpty {
            root = directory.absolute
        } else {
            let usual = try? Session.stateDirectory(appID: probe)
            root = usual.map { $0.hasSuffix("/" + probe) ? String($0.dropLast(probe.count + 1)) : $0 }
        }
        for directory in directories { for path in Self.runs(directory) { files[path] = .earlier } }
    }

    /// A process that has ended and was not waited for yet.
    struct Ended {
        let process: pid_t
        /// When it began, in clock ticks since boot; nil: /proc does not say.
        let startTicks: UInt64?

        init(_ process: pid_t) {
            self.process = process
            // Behind the name, which may hold anything: the state is field 3, the start field 22.
            let fields = ProgramHead("/proc/\(process)/stat", size: 1024).map { head in
                head.bytes.suffix(from: (head.bytes.lastIndex(of: UInt8(ascii: ")")) ?? -1) + 1).split(separator: UInt8(ascii: " "))
            }
            startTicks = fields.flatMap { $0.count > 19 ? UInt64(String(decoding: $0[19], as: UTF8.self)) : nil }
        }
    }

    /// Stores the wait status of a process, if there is a run of it.
    func store(_ waitStatus: Int32, of ended: Ended) {
        guard let directory = directory(of: ended) else { return }
        try? Session.witness(waitStatus, of: ended.process, stateDirectory: directory)
    }

    /// The state directory with the newest run of the process: it may have been several programs in
    /// turn.
    func directory(of ended: Ended) -> String? {
        var newest: (directory: String, moment: UInt64)?
        var found: [String: Owner] = [:]
        for directory in directories {
            for path in Self.runs(directory) {
                guard let owner = files[path] ?? Self.owner(path) else { continue }
                found[path] = owner
                guard case .process(let id, let startTicks, let moment) = owner, id == ended.process,
                    ended.startTicks == nil || ended.startTicks == startTicks, moment >= newest?.moment ?? 0
                else { continue }
                newest = (directory, moment)
            }
        }
        files = found  // those that are gone are forgotten
        return newest?.directory
    }

    private var directories: [String] {
        guard let root else { return [] }
        let names = (try? Path.names(in: root)) ?? []
        return [root] + names.filter { $0 != "." && $0 != ".." && $0 != "runs" }.map { "\(root)/\($0)" }
    }

    private static func runs(_ directory: String) -> [String] {
        (try? StateDirectory(path: directory).runPaths()) ?? []
    }

    /// Nil: the file does not show it, or not yet.
    private static func owner(_ path: String) -> Owner? {
        (try? Reader(path: path))?.process.map { .process(id: $0.id, startTicks: $0.startTicks, moment: $0.moment) }
    }
}
#endif
