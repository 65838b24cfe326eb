extension LaunchGuard {
    /// The condition that finishes a launch. C: `lg_finish`.
    public enum Finish: String, Sendable, Codable, CaseIterable {
        /// ``Launch/finished()`` or the window, whichever comes first.
        case either
        /// Only ``Launch/finished()``.
        case mark
        /// Only the window.
        case time
        /// ``Launch/finished()`` and the window, whichever comes last.
        case both
    }
}
