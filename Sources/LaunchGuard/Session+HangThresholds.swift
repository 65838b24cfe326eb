extension Session {
    /// The times after which the program counts as hanging: ``Session/sendHeartbeat()``,
    /// ``Session/watchMainActor()``, ``Session/watchTaskPool()``.
    public struct HangThresholds: Hashable, Sendable {
        /// Longest time between two heartbeats of a run loop while a launch is under way: 100 ms to
        /// 1 h.
        public var launching: Duration
        /// Longest time between two heartbeats of a run loop at any other time: 100 ms to 1 h.
        public var running: Duration

        /// By default 2 s in a launch, and 5 s at any other time.
        public init(launching: Duration = .seconds(2), running: Duration = .seconds(5)) {
            self.launching = launching
            self.running = running
        }
    }
}
