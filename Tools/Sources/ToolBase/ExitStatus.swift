package import ArgumentParser
package import LaunchGuardReportModel

/// The meanings of the tool's exit status.
package enum ExitStatus: Int32 {
    case success = 0
    case nothingFound = 1
    case usage = 2
    case damaged = 3
    /// `upload`: reports are left; nothing can be sent.
    case unsent = 4
    case cannotSend = 5
    /// `witness`, `reset`: not now, as the files are another's or have a word already.
    case refused = 6
    /// `doctor`: warnings; errors.
    case weakened = 7
    case broken = 8

    package init(_ error: ReportError) {
        self = error.code == .damaged || error.code == .newer ? .damaged : .nothingFound
    }

    package var code: ExitCode { ExitCode(rawValue) }

    /// Ends the command with this status.
    package func end() throws {
        if self != .success { throw code }
    }
}
