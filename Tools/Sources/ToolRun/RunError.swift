import LaunchGuardPlatform

/// Why a program was not started: a message, and the exit status of `launchguard run`, which is
/// that of env(1).
package struct RunError: Error {
    package let status: Int32
    package let message: String

    /// The program was found, and the system refuses to run it.
    package static let cannotRun: Int32 = 126
    /// There is no such program.
    package static let noProgram: Int32 = 127
    /// `launchguard run` itself failed.
    package static let ownFailure: Int32 = 125

    init(_ status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The reason that the system gave.
    package static func reason(_ error: Int32) -> String { unsafe String(cString: strerror(error)) }
}
