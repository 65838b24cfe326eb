extension Launch {
    /// The status of a launch and its changes, in order; ends when the launch is finished. See
    /// ``Launch/statusUpdates``.
    public struct StatusUpdates: AsyncSequence, Sendable {
        /// A status.
        public typealias Element = Status
        /// The iteration throws no error.
        public typealias Failure = Never

        let source: StatusBroadcast

        /// Start an iteration, which begins with the status at this moment.
        public func makeAsyncIterator() -> Iterator {
            Iterator(base: source.subscribe().makeAsyncIterator())
        }

        /// One iteration.
        public struct Iterator: AsyncIteratorProtocol {
            var base: AsyncStream<Status>.Iterator

            /// The next status; `nil` after the launch is finished, and when the task is cancelled.
            public mutating func next() async -> Status? { await base.next() }

            /// The next status; `nil` after the launch is finished, and when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Status? {
                await base.next(isolation: actor)
            }
        }
    }
}
