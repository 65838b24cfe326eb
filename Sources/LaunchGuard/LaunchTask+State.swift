extension LaunchTask {
    /// Where a task is. C: `lg_task_state`.
    public enum State: Sendable, CaseIterable {
        /// It has not run yet.
        case held
        /// It runs.
        case running
        /// It has run.
        case done
        /// It threw.
        case failed
        /// It is unsafe in safe mode, or suspect, or behind an essential task that failed.
        case leftOut
    }
}
