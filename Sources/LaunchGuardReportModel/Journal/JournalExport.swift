/// One run in systemd's Journal Export Format: each breadcrumb as an entry of its own, and the end
/// of the run as one more, among those by its time.
///
/// `systemd-journal-remote` makes a journal of it, in which `journalctl` shows the log up to the
/// end. A crash by a signal is an entry as systemd-coredump writes it, which `coredumpctl` lists
/// without a core file. docs/EXPORT.md names the fields. Exports that stand one after the other
/// are one export.
///
/// Redacted values are not in the export, but their keys are. An export is a value;
/// several threads may make exports at once.
public struct JournalExport: Sendable {
    /// The run. Its frames have functions only if those were looked up before.
    public var run: RunReport

    public init(_ run: RunReport) {
        self.run = run
    }

    /// The entries. Values with control characters stand in binary form, so that this is no text.
    public var bytes: [UInt8] {
        let end = run.journalMoment
        let breadcrumbs = run.breadcrumbs?.entries ?? []
        // Entries of other threads may come after the crash.
        let count = breadcrumbs.firstIndex { $0.monotonicNanoseconds > end } ?? breadcrumbs.count
        let process = run.journalProcess
        var bytes: [UInt8] = []
        for entry in breadcrumbs[..<count] { bytes += entry.journalEntry(of: process) }
        bytes += run.journalEntryOfEnd(of: process)
        for entry in breadcrumbs[count...] { bytes += entry.journalEntry(of: process) }
        return bytes
    }
}

extension RunReport {
    /// When the end is entered, on the monotonic clock: at the crash, or else when the program is
    /// last known to have lived.
    var journalMoment: UInt64 {
        if let crash = fatalCrash { return crash.monotonicNanoseconds }
        return [verdict?.monotonicNanoseconds, lastSignOfLife, identity?.monotonicNanoseconds].compactMap(\.self).max() ?? 0
    }

    /// Fields that every entry of the run has.
    var journalProcess: JournalEntry {
        var process = JournalEntry()
        process.add("_BOOT_ID", journalBoot)
        process.add("_PID", identity?.processID)
        process.add("_UID", identity?.userID)
        process.add(escaped: "_COMM", processName)
        process.add(escaped: "_EXE", identity?.executable)
        process.add(escaped: "_CMDLINE", commandLine)
        process.add(escaped: "_SYSTEMD_UNIT", system?.unit)
        process.add(escaped: "_SYSTEMD_INVOCATION_ID", system?.invocationID)
        process.add(escaped: "LAUNCHGUARD_APP", identity?.appID)
        process.add(escaped: "LAUNCHGUARD_VERSION", identity?.appVersion)
        process.add("LAUNCHGUARD_RUN", identity?.uuid)
        return process
    }

    /// The boot as 32 digits. Where it is not known, the run stands for it: the times of a run are
    /// of one boot, and readers refuse an entry of none.
    private var journalBoot: String? {
        for id in [identity?.bootID, identity?.uuid].compactMap(\.self) {
            let digits = id.filter { $0 != "-" }.lowercased()
            if digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit), digits.contains(where: { $0 != "0" }) { return digits }
        }
        return nil
    }

    /// The name of the main thread, or else what the kernel calls a program of this file.
    var processName: String? {
        let id = identity?.processID
        let threads = (recordedCrash?.threads ?? []) + (lastSnapshot?.threads ?? [])
        let main = recordedCrash.flatMap { $0.threadID == id ? $0.threadName : nil } ?? threads.first { $0.threadID == id }?.name
        return main ?? (identity?.executable ?? programPath).map { String($0.lastPathPart.prefix(15)) }
    }

    /// The arguments in one line.
    var commandLine: String? { system?.commandLine?.map(TextWriter.word).joined(separator: " ") }
}

extension Breadcrumb {
    func journalEntry(of process: JournalEntry) -> [UInt8] {
        var entry = JournalEntry(time: time, monotonic: monotonicNanoseconds)
        entry.add(process)
        entry.add("MESSAGE", isDamaged == true ? "damaged" : text)
        entry.add("PRIORITY", level.journalPriority)
        entry.add("TID", threadID)
        entry.add("LAUNCHGUARD_LEVEL", level)
        entry.add("LAUNCHGUARD_CATEGORY", category)
        for field in fields ?? [] { entry.add("LAUNCHGUARD_FIELD", field.key, field.value) }
        return entry.finished()
    }
}

extension Level {
    /// As of syslog(3): from 2, critical, to 7, debug.
    var journalPriority: Int {
        switch self {
        case ..<Level.info: 7
        case ..<Level.notice: 6
        case ..<Level.warning: 5
        case ..<Level.error: 4
        case ..<Level.critical: 3
        default: 2
        }
    }
}
