#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel

/// The witness of processes whose parent is not this one: children of the program, and theirs.
///
/// The watch sees each process by its new run file. From then on it holds a descriptor of the
/// process, and waits until the parent has waited for the process. The kernel then reports the
/// status that the parent got: since Linux 6.15, also where the first thread of the process ended
/// before the others. An end stays unknown where the kernel does not report it, and where the
/// parent waited for the process before its file was read.
final class DescendantWatch {
    /// Each process takes one descriptor. The usual limit is 1024, and the storing of an end needs
    /// some. The ends of more processes at a time stay unknown.
    private static let most = 512
    /// A file that is being made is read again after 1 ms, 2 ms, and so on up to 1 s in all.
    private static let mostTries = 10

    private let program: pid_t
    private let witness: RunWitness
    private let limit: Int
    private var events: lg_shim_events
    /// The folders of run files, by the number of their notices.
    private var folders: [Int32: String] = [:]
    /// The folder of all state directories, or the nearest one above.
    private var nearest: Int32?
    /// By their descriptors.
    private var processes: [Int32: ProcessIdentity] = [:]
    /// Run files that do not show their process yet.
    private var unread: [String: (tries: Int, due: Double)] = [:]

    /// A descriptor that is closed quickly where another process has it too.
    var notices: Int32 { events.notices }

    /// Nil: the kernel does not report how a process ended, or no descriptor is free.
    init?(_ program: pid_t, _ witness: RunWitness) {
        guard lg_shim_tells_ends() != 0 else { return nil }
        events = lg_shim_open_events()
        guard events.all >= 0 else { return nil }
        self.program = program
        self.witness = witness
        let files = sysconf(Int32(_SC_OPEN_MAX))
        limit = files < 0 ? Self.most : min(Self.most, files / 2)
    }

    /// Until a signal waits to be taken, or for some milliseconds at most.
    func wait(_ milliseconds: Int?) {
        let end = milliseconds.map { monotonic() + Double($0) / 1000 } ?? .infinity
        while true {
            let until = min(end, unread.values.map(\.due).min() ?? .infinity)
            let file = unsafe lg_shim_next_event(&events, until == .infinity ? -1 : Int32(clamping: Int(max(0, until - monotonic()) * 1000 + 1)))
            if file >= 0, file == events.signals { return }
            if file >= 0 { take(file) }
            let now = monotonic()
            for (path, state) in unread where state.due <= now { consider(path) }
            if now >= end { return }
        }
    }

    /// This process itself has waited for a process.
    func waited(for process: pid_t) {
        for (file, identity) in processes where identity.process == process { letGo(file) }
    }

    /// The program has ended: store the ends that are known by now, and wait for no more.
    func finish() {
        // Signals do not matter any more.
        if events.signals >= 0 { close(events.signals) }
        events.signals = -1
        for _ in 0..<processes.count + 2 {
            let file = unsafe lg_shim_next_event(&events, 0)
            guard file >= 0 else { break }
            take(file)
        }
        stop()
        unsafe lg_shim_close_events(&events)
    }

    /// The kernel does not report ends, or they are of no interest any more.
    private func stop() {
        for file in processes.keys { letGo(file) }
        if events.notices >= 0 { close(events.notices) }
        events.notices = -1
        folders = [:]
        unread = [:]
    }

    private func letGo(_ file: Int32) {
        processes[file] = nil
        close(file)
    }

    private func take(_ file: Int32) {
        if file == events.notices { return takeNotices() }
        guard let process = processes[file] else { return }
        let status = lg_shim_end_of(file)
        letGo(file)
        if status >= 0 { witness.store(status, of: process) } else { stop() }
    }

    // MARK: Run files

    /// Begins to watch the folders that are not watched yet, and looks at what is there. No file is
    /// missed: a folder is watched before it is listed. The first look is the caller's.
    func look() {
        if let root = witness.root { watchNearest(root) }
        for directory in witness.directories {
            let runs = directory + "/runs"
            if let number = watch(runs) ?? watch(directory).flatMap({ _ in watch(runs) }) { folders[number] = runs }
            for path in RunWitness.runs(directory) { consider(path) }
        }
    }

    /// Watches a folder, or the nearest one above it until it is there. A folder that is there and
    /// may not be watched stays unwatched.
    private func watchNearest(_ folder: String) {
        let folders = Self.withThoseAbove(folder)
        for _ in folders {  // one more may be made meanwhile
            guard let at = folders.indices.first(where: { isWatchedAsNearest(folders[$0]) }), at > 0, (try? ReportPath.isFolder(folders[at - 1])) == true
            else { return }
        }
    }

    private func isWatchedAsNearest(_ folder: String) -> Bool {
        guard let number = watch(folder) else { return false }
        if let nearest, nearest != number { unsafe lg_shim_forget_folder(&events, nearest) }
        nearest = number
        return true
    }

    /// `/a/b`, `/a`, `/`.
    private static func withThoseAbove(_ folder: String) -> [String] {
        let ends = folder.indices.filter { folder[$0] == "/" && $0 > folder.startIndex }
        return [folder] + ends.reversed().map { String(folder[..<$0]) } + ["/"]
    }

    private func watch(_ folder: String) -> Int32? {
        let number = unsafe ReportPath.withCString(folder) { folder in unsafe lg_shim_watch_folder(&events, folder) }
        return number >= 0 ? number : nil
    }

    private func takeNotices() {
        var bytes = [UInt8](repeating: 0, count: 16384)
        var isOther = false
        while case let count = unsafe read(events.notices, &bytes, bytes.count), count > 0 {
            var at = 0
            while at + 16 <= count {
                let (number, kind, size) = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe (
                        bytes.loadUnaligned(fromByteOffset: at, as: Int32.self), bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self),
                        Int(bytes.loadUnaligned(fromByteOffset: at + 12, as: UInt32.self))
                    )
                }
                let name = bytes[min(at + 16, count)..<min(at + 16 + size, count)].prefix { $0 != 0 }
                if let folder = folders[number] {
                    consider(folder + "/" + String(decoding: name, as: UTF8.self))
                } else if kind & UInt32(IN_ISDIR | IN_Q_OVERFLOW) != 0 {
                    isOther = true
                }
                at += 16 + size
            }
        }
        if isOther { look() }
    }

    /// Begins to wait for the end of the process of a run file.
    private func consider(_ path: String) {
        let tries = unread.removeValue(forKey: path)?.tries ?? 0
        guard path.hasSuffix(".lgrun"), !witness.isEarlier(path) else { return }
        guard let process = witness.process(of: path) else {
            guard tries < Self.mostTries, (try? ReportPath.isFolder(path)) == false else { return }
            unread[path] = (tries + 1, monotonic() + Double(1 << tries) / 1000)
            return
        }
        guard process.process != program, processes.count < limit, !processes.values.contains(process) else { return }
        let file = lg_shim_open_process(process.process)
        guard file >= 0 else { return }
        // The number may be that of another process by now. Ask after the descriptor was opened: a
        // process with the run's start time had the number already then.
        if ProcessIdentity(process.process) == process, process.isDescendant, unsafe lg_shim_add_event(&events, file, 0) != 0 {
            processes[file] = process
        } else {
            close(file)
        }
    }
}
#endif
