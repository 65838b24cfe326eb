extension LaunchGuard {
    /// How much of its promises a session can keep. C: `lg_protection`.
    public enum Protection: Sendable {
        /// No files: the program runs, launches proceed, nothing is recorded.
        case none
        /// A run file and the crash handlers, but no counters: another process of the application holds the ledger.
        case recordOnly
        /// Everything.
        case full
    }
}
