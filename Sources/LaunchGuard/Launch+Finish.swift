extension Launch {
    /// The condition that finishes a launch.
    public enum Finish: String, Sendable, Codable, CaseIterable {
        /// ``Launch/finish()`` or the window, whichever comes first.
        case either
        /// Only ``Launch/finish()``.
        case mark
        /// Only the window.
        case time
        /// ``Launch/finish()`` and the window, whichever comes last.
        case both
    }
}
