extension LaunchGuard {
    /// One ended run, as ``Launch/onReport(_:)`` gets it. C: `lg_report`.
    public struct Report: Hashable, Sendable {
        /// Path of the run file, which stays where it is until it is old.
        public let path: String
        /// The run's UUID in text form.
        public let uuid: String
        /// Number of the run in its state directory, from 1.
        public let ordinal: UInt64
        /// How the run ended.
        public let end: End
        /// The signal, for ``End/crash`` and ``End/terminated``.
        public let signal: Int32?
    }
}
