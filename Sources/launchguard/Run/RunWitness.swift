#if os(Linux)
import LaunchGuard
import LaunchGuardPlatform
import LaunchGuardReports

/// Stores how processes ended in the files of their runs.
struct RunWitness {
    /// The folder in which each program has its state directory, or one state directory.
    private let root: String?

    /// The folder of `--directory`; without it the usual one.
    init(_ directory: String?) {
        let probe = "launchguard-run"
        if let directory = directory ?? Output.variable("LAUNCHGUARD_DIRECTORY"), !directory.isEmpty {
            root = directory.absolute
        } else {
            let usual = try? Session.stateDirectory(appID: probe)
            root = usual.map { $0.hasSuffix("/" + probe) ? String($0.dropLast(probe.count + 1)) : $0 }
        }
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

    /// Whether there was a run of the process.
    @discardableResult
    func store(_ waitStatus: Int32, of ended: Ended) -> Bool {
        guard let directory = directory(of: ended) else { return false }
        return (try? Session.witness(waitStatus, of: ended.process, stateDirectory: directory)) != nil
    }

    /// The state directory with the newest run of the process: it may have been several programs in
    /// turn.
    func directory(of ended: Ended) -> String? {
        guard let root else { return nil }
        let folders = ((try? Path.names(in: root)) ?? []) .filter { $0 != "." && $0 != ".." && $0 != "runs" }.map { "\(root)/\($0)" }
        var newest: (directory: String, moment: UInt64)?
        for directory in [root] + folders {
            for path in (try? StateDirectory(path: directory).runPaths()) ?? [] {
                guard let run = (try? Reader(path: path))?.process, run.id == ended.process, ended.startTicks == nil || run.startTicks == ended.startTicks,
                    run.moment >= newest?.moment ?? 0
                else { continue }
                newest = (directory, run.moment)
            }
        }
        return newest?.directory
    }
}
#endif
