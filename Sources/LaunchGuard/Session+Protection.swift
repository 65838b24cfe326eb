extension Session {
    /// The protection that a session can give. Later versions may have more cases, so a `switch`
    /// needs an `@unknown default`.
    public enum Protection: Sendable {
        /// No files: the program runs, launches proceed, nothing is recorded.
        case unprotected
        /// A run file and the crash handlers, but no counters: another process of the application
        /// holds the ledger.
        case recordOnly
        /// Launches are counted, reported and repaired, but this run has no file, and so no record
        /// of a crash and no log. The state directory has no room for one.
        case launchOnly
        /// Everything.
        case full
    }
}
