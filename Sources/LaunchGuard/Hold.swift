extension LaunchGuard {
    /// What ``Launch/begin()`` does while the launch is held. C: `lg_hold`.
    public enum Hold: Sendable, CaseIterable {
        /// It returns when the tasks have run.
        case block
        /// It returns at once, and the tasks stay in custody: they run when the hold is over, and ``Launch/waitUntilLaunched(timeout:)``
        /// waits for that. A launch that need not be held runs them before it returns.
        case custody
        /// Nothing is held: the tasks run at once, a repair runs beside them.
        case none
    }
}
