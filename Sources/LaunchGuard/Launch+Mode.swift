extension Launch {
    /// The kind of launch. The raw value is the word that the tools use.
    public enum Mode: String, Sendable, Codable, CaseIterable {
        /// The usual launch.
        case normal
        /// The first launch after a successful repair: one crash climbs the ladder at once.
        case probation
        /// Safe mode: the tasks that are unsafe or suspect are left out.
        case safe
        /// The periodic trial of the normal launch, to leave safe mode.
        case trial
    }
}
