#if os(Linux)
import LaunchGuard
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// Stores how processes ended in the files of their runs.
final class RunWitness {
    /// As of `RecordsFolder`.
    let root: String?
    /// The owner of each run file, by path. The file of a run never becomes that of another one.
    private var files: [String: Owner] = [:]

    private enum Owner {
        /// The file was there before the program.
        case earlier
        case process(ProcessIdentity, moment: UInt64)
    }

    /// Made before the program starts. `directory` is the folder of `--directory`.
    init(_ directory: String?) {
        root = RecordsFolder.path(directory)
        for directory in directories { for path in Self.runs(directory) { files[path] = .earlier } }
    }

    /// Stores the wait status of a process, if there is a run of it.
    func store(_ waitStatus: Int32, of ended: ProcessIdentity) {
        guard let run = run(of: ended) else { return }
        try? Session.witness(waitStatus, of: ended.process, stateDirectory: run.directory)
    }

    /// Stores what a process said on standard error, if there is a run of it. Comes before the wait
    /// status: a later start of the program may wait for that one alone.
    func store(_ said: (bytes: [UInt8], total: UInt64), of ended: ProcessIdentity) {
        guard said.total > 0, let run = run(of: ended) else { return }
        try? Session.witness(standardError: said.bytes, total: said.total, of: ended.process, stateDirectory: run.directory)
    }

    /// The newest run of the process, which may have executed several programs in turn: its state
    /// directory and its file. Nil also where that run belongs to another process, which got the
    /// number since.
    func run(of process: ProcessIdentity) -> (directory: String, path: String)? {
        var newest: (run: (directory: String, path: String), isOfProcess: Bool, moment: UInt64)?
        var found: [String: Owner] = [:]
        for directory in directories {
            for path in Self.runs(directory) {
                guard let owner = files[path] ?? Self.owner(path) else { continue }
                found[path] = owner
                guard case .process(let other, let moment) = owner, other.process == process.process, moment >= newest?.moment ?? 0 else { continue }
                newest = ((directory, path), process.startTicks == nil || other == process, moment)
            }
        }
        files = found  // those that are gone are forgotten
        return newest.flatMap { $0.isOfProcess ? $0.run : nil }
    }

    func isEarlier(_ path: String) -> Bool {
        if case .earlier = files[path] { true } else { false }
    }

    /// The process of a run file that was not there before the program; nil: the file does not show
    /// it, or not yet.
    func process(of path: String) -> ProcessIdentity? {
        files[path] = files[path] ?? Self.owner(path)
        guard case .process(let process, _) = files[path] else { return nil }
        return process
    }

    var directories: [String] {
        guard let root else { return [] }
        let names = (try? ReportPath.names(in: root)) ?? []
        return [root] + names.filter { !$0.hasPrefix(".") && $0 != "runs" }.map { "\(root)/\($0)" }
    }

    /// The run files of a state directory, in no order: a start has no time to sort them.
    static func runs(_ directory: String) -> [String] {
        let folder = directory + "/runs"
        let names = (try? ReportPath.names(in: folder)) ?? []
        return names.filter { $0.hasSuffix(".lgrun") }.map { folder + "/" + $0 }
    }

    /// Nil: the file does not show it, or not yet.
    private static func owner(_ path: String) -> Owner? {
        (try? Reader(path: path))?.process.map { .process(ProcessIdentity($0.id, startTicks: $0.startTicks), moment: $0.moment) }
    }
}
#endif
