import LaunchGuardPlatform
import LaunchGuardReportModel

/// A file with which the tool asks an agent to send later reports at once.
struct Nudge {
    private let path: String
    private let temporary: String

    init(_ directory: StateDirectory) {
        path = directory.spoolPath + "/nudge"
        temporary = directory.spoolPath + "/tmp/nudge.\(getpid())"
    }

    /// Whether the agent has not taken it yet.
    var isThere: Bool {
        get throws { try ReportPath.isFolder(path) != nil }
    }

    /// Writes it as a whole; false: `errno` says why not.
    func write(_ words: String) -> Bool {
        let file = unsafe ReportPath.withCString(temporary) { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        guard file >= 0 else { return false }
        let isWritten = unsafe LaunchGuardPlatform.write(file, words, words.utf8.count) == words.utf8.count
        close(file)
        return unsafe isWritten && ReportPath.withCString(temporary) { from in unsafe ReportPath.withCString(path) { unsafe rename(from, $0) } } == 0
    }
}
