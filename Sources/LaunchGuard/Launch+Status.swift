extension Launch {
    /// The public states of a launch. C: `lg_launch_status`.
    public enum Status: String, Sendable, Codable, CaseIterable {
        /// Not begun, or finished: nothing to do.
        case normal
        /// Under way; a crash now is a launch crash.
        case checking
        /// Held: the streak needs a repair that has not started yet.
        case needsRepair
        /// Held: a repair runs.
        case repairing
    }
}
