extension Launch.Configuration {
    /// The behaviour of ``Launch/begin()`` while the launch is held.
    public enum Hold: Sendable, CaseIterable {
        /// The call returns when the tasks have run.
        case block
        /// The call returns at once, and the tasks stay in custody: they run when the hold is over,
        /// and ``Launch/waitUntilLaunched(timeout:)`` waits for that. Where the launch need not be
        /// held, the call runs the tasks before it returns.
        case custody
        /// Nothing is held: the tasks run at once, and a repair runs beside them.
        case never
    }
}
