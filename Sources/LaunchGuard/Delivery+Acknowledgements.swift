extension Delivery {
    /// Reports that were delivered. See ``Delivery/acknowledgements``.
    public struct Acknowledgements: AsyncSequence, Sendable {
        /// A report.
        public typealias Element = Entry
        /// The iteration throws no error.
        public typealias Failure = Never

        let source: DeliveryBroadcast

        /// Start an iteration, which begins with the reports acknowledged before in this run.
        public func makeAsyncIterator() -> Iterator {
            Iterator(base: source.subscribe().makeAsyncIterator())
        }

        /// One iteration.
        public struct Iterator: AsyncIteratorProtocol {
            var base: AsyncStream<Entry>.Iterator

            /// The next report; `nil` after the session is stopped, and when the task is cancelled.
            public mutating func next() async -> Entry? { await base.next() }

            /// The next report; `nil` after the session is stopped, and when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Entry? {
                await base.next(isolation: actor)
            }
        }
    }
}
