extension Launch {
    /// The states of a launch. C: `lg_launch_state`.
    public enum Status: String, Sendable, Codable, CaseIterable {
        /// Not begun.
        case idle
        /// Under way; a crash now is a launch crash.
        case launching
        /// Held: a repair is needed and has not started yet, or the launch is halted.
        case awaitingRepair
        /// Held: a repair runs.
        case repairing
        /// Finished, or over since its end was announced.
        case finished
    }
}
