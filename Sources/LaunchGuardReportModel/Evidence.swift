/// The evidence for an end. The cases stand in the order of their values in C: `lg_evidence`.
public enum Evidence: String, Codable, Sendable, CaseIterable {
    /// There was no run.
    case noRun = "no-run"
    case processAlive = "process-alive"
    /// The program itself reported its crash.
    case crashNote = "crash-note"
    case crashRecord = "crash-record"
    case exitMark = "exit-mark"
    case stopMark = "stop-mark"
    case terminateMark = "terminate-mark"
    case bootDiffers = "boot-differs"
    case noMark = "no-mark"
    case fileUnreadable = "file-unreadable"
    /// The program survived the crash of its record.
    case handled
    /// Only the ledger shows a crash.
    case crashMark = "crash-mark"
    /// The process executed another program.
    case exec
    case dumpRecord = "dump-record"
    /// A debugger was attached.
    case tracer
    /// Another process waited for it.
    case witness
    case terminationAnnounced = "termination-announced"
    case restartAnnounced = "restart-announced"
    case hangMark = "hang-mark"
    case oomCounter = "oom-counter"
    case stopTimeout = "stop-timeout"
    case cpuLimit = "cpu-limit"
    case deadline
    case nearMemoryLimit = "near-memory-limit"
    /// The kernel's log names it as ended for lack of memory.
    case kernelLog = "kernel-log"
    /// The process had most of the memory when the kernel ended a process of its cgroup.
    case memoryShare = "memory-share"
    /// The process forked right before it was gone.
    case fork
}
