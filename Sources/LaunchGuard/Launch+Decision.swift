extension Launch {
    /// The course of a launch that begins, from ``Launch/Configuration/onDecide``. C:
    /// `lg_decision`.
    public enum Decision: Sendable {
        /// As docs/LAUNCH.md says.
        case byRule
        /// Nothing is held and nothing repaired; the tasks run, in safe mode without the unsafe
        /// ones. The counters stay, so that the next start has the same question.
        case goOn
        /// The launch is held and repaired, as ``Launch/protect(reason:)`` does. By rule in safe
        /// mode, where nothing is left to try.
        case protect
        /// The launch is held, also where there is no repair, and waits for an answer to
        /// ``Launch/Configuration/onHold``. In safe mode by rule; a halted launch then waits for
        /// one to ``Launch/Configuration/onGiveUp``.
        case hold
    }
}
