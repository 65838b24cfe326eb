extension LaunchGuard {
    /// Importance of a breadcrumb. C: `lg_level`.
    public enum Level: UInt32, Sendable, CaseIterable, Comparable {
        /// The finest detail.
        case trace = 10
        /// For the one who looks for a mistake.
        case debug = 20
        /// What the program does.
        case info = 30
        /// Worth knowing, and all is well.
        case notice = 40
        /// Something may go wrong.
        case warning = 50
        /// Something went wrong.
        case error = 60
        /// The program cannot do its job.
        case critical = 70

        /// Whether one level is less important than another.
        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }
}
