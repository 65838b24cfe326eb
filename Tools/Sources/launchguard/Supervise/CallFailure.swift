import ArgumentParser
import LaunchGuard
import LaunchGuardReportModel

/// A call about a state directory that failed.
enum CallFailure {
    /// The problem, in words that fit the command where there are some.
    static func exitCode(_ directory: StateDirectory, _ error: LaunchGuardError, _ words: String?) -> ExitCode {
        Output.complain("\(directory.path): \(words ?? error.message)")
        return switch error.code {
        case .state, .already, .secondary: ExitStatus.refused.code
        case .damaged, .newer: ExitStatus.damaged.code
        default: ExitStatus.nothingFound.code
        }
    }
}
