extension LaunchGuard {
    /// The protection that a session can give. C: `lg_protection`.
    public enum Protection: Sendable {
        /// No files: the program runs, launches proceed, nothing is recorded.
        case none
        /// A run file and the crash handlers, but no counters: another process of the application
        /// holds the ledger.
        case recordOnly
        /// Everything.
        case full
    }
}
