extension Launch {
    /// What a hint of the vendor did to a launch. The raw value is the word that the tools use.
    /// Later versions may have more cases, so a `switch` needs an `@unknown default`. C:
    /// `LG_EVENT_HINT_…`.
    public enum Hint: String, Sendable, Codable, CaseIterable {
        /// A task was left out.
        case leaveOut = "leave-out"
        /// The launch was held for a repair.
        case repair
        /// The launch was in safe mode.
        case safeMode = "safe-mode"
        /// The launch was held until another version.
        case holdBelow = "hold-below"
    }
}
