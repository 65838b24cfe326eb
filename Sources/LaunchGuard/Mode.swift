extension LaunchGuard {
    /// What kind of launch it is. The raw value is the word that the tools use. C: `lg_launch_mode`.
    public enum Mode: String, Sendable, CaseIterable {
        /// As always.
        case normal
        /// The first one after a successful repair: one crash climbs the ladder at once.
        case probation
        /// Safe mode: without the tasks that are unsafe or suspect.
        case safe
        /// The periodic try of the normal launch, to leave safe mode.
        case trial
    }
}
