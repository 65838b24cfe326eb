extension Launch {
    /// State of a launch task.
    public enum TaskState: Sendable, CaseIterable {
        /// Not run yet.
        case held
        /// Running.
        case running
        /// Run without an error.
        case done
        /// The task threw an error.
        case failed
        /// Left out: unsafe in safe mode, or suspect, or after an essential task that failed, or
        /// by ``Launch/leaveOut(_:)``.
        case leftOut
    }
}
