extension Launch {
    /// The result of ``Launch/begin()`` and ``Launch/waitUntilLaunched(timeout:)``. No case is a
    /// crash, and none counts as one: a program that ends after any of them, by `exit` with
    /// whatever status, leaves the streak as it is. Later versions may have more cases, so a
    /// `switch` needs an `@unknown default`. C: `lg_status` of `lg_launch_begin()`.
    ///
    /// ```swift
    /// let outcome = await launch.begin()
    /// if let problem = outcome.problem {
    ///     print(problem)
    ///     exit(1)
    /// }
    /// ```
    public enum Outcome: Sendable {
        /// The tasks have run, or run later as ``Launch/Configuration/hold`` decides: go on, and
        /// call ``Launch/finish()`` when the program is useful.
        case launched
        /// An essential task threw, and the tasks after it did not run. Go on with less, or say why
        /// and end with a status that is not zero.
        case failed(task: String, error: any Error)
        /// A repair succeeded that needs a restart, and no task ran: end the program, or execute it
        /// again.
        case restartNeeded
        /// The end was announced, or SIGTERM or SIGINT came while the launch was held, and the
        /// remaining tasks did not run: end the program.
        case interrupted
        /// The caller was cancelled, and ``Launch/Configuration/cancellation`` forwards that: end
        /// what the caller was about to do. `task` is the key of the essential task that failed for
        /// this reason. From ``Launch/waitUntilLaunched(timeout:)``: the caller was cancelled, and
        /// the launch goes on.
        case cancelled(task: String?)
        /// The session was stopped, or a simulated run has ended; the remaining tasks did not run.
        case closed
        /// The limit of ``Launch/waitUntilLaunched(timeout:)`` has passed, and the launch goes on:
        /// wait again, or go on, too.
        case timedOut
        /// The call did nothing: a mistake of the program with the code
        /// ``LaunchGuardError/Code/state``, which is in the log too, or no thread can be made
        /// (``LaunchGuardError/Code/system``), and no task ran.
        case refused(LaunchGuardError)

        /// The reason for a log or a person why the program is not launched; `nil` for
        /// ``launched``.
        public var problem: LaunchGuardError? {
            switch self {
            case .launched: nil
            case .failed(let task, let error):
                LaunchGuardError(.failed, TaskFailure(key: task, error: error, message: "task \"\(task)\" failed: \(error)"))
            case .restartNeeded: LaunchGuardError(.restart)
            case .interrupted: LaunchGuardError(.interrupted)
            case .cancelled(let task?):
                LaunchGuardError(
                    .cancelled, TaskFailure(key: task, error: CancellationError(), message: "task \"\(task)\" failed: its caller was cancelled"))
            case .cancelled(nil): LaunchGuardError(.cancelled)
            case .closed: LaunchGuardError(.closed)
            case .timedOut: LaunchGuardError(.timeout)
            case .refused(let error): error
            }
        }
    }
}
