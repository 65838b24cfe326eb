extension Guards {
    /// Events of guards. See ``Guards/events``.
    public struct Events: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = GuardEvent
        /// The iteration throws no error.
        public typealias Failure = Never

        /// Start an iteration, which begins with the next event. It keeps 256 events for its task;
        /// those that come while it is full are dropped, and ``GuardEvent/dropped`` counts them.
        public func makeAsyncIterator() -> Iterator {
            Iterator(base: GuardTeller.subscribe().makeAsyncIterator())
        }

        /// One iteration.
        public struct Iterator: AsyncIteratorProtocol {
            var base: AsyncStream<GuardEvent>.Iterator

            /// The next event; `nil` after ``Guards/stop()``, also where events still wait, and
            /// when the task is cancelled.
            public mutating func next() async -> GuardEvent? { await base.next() }

            /// The next event; `nil` after ``Guards/stop()``, also where events still wait, and
            /// when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> GuardEvent? {
                await base.next(isolation: actor)
            }
        }
    }
}
