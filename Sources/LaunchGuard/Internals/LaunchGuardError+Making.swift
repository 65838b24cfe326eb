extension LaunchGuardError {
    /// The error with a message of its own, or else with that of its code.
    init(_ code: Code, _ message: String? = nil, errno: Int32? = nil) {
        self.init(code: code, systemError: errno, message: message ?? code.message, failedTask: nil, underlying: nil)
    }

    /// The error of a launch whose essential task failed.
    init(_ code: Code, _ failure: TaskFailure) {
        self.init(code: code, systemError: nil, message: failure.message, failedTask: failure.key, underlying: failure.error)
    }

    /// Whether the cause is the machine or its operator, and no mistake in the call: the program
    /// goes on with less protection.
    package var isOfEnvironment: Bool { ![.argument, .option, .already, .closed, .forked, .state, .limit].contains(code) }

    /// The same error with the name of its repair or task.
    func naming(_ kind: String, _ name: String) -> Self {
        Self(code: code, systemError: systemError, message: "\(kind) \"\(name)\": \(message)", failedTask: failedTask, underlying: underlying)
    }
}

/// The failure of an essential task.
struct TaskFailure: Sendable {
    let key: String
    let error: any Error
    /// As in the log.
    let message: String
}
