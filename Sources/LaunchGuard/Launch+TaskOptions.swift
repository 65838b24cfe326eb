extension Launch {
    /// Kinds of launch tasks. C: `LG_TASK_…`.
    public struct TaskOptions: OptionSet, Hashable, Sendable {
        /// The bits, as in C.
        public let rawValue: UInt32

        /// Make the set of these bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Left out by ``Launch/leaveOut(_:)`` only. When the task fails, the tasks after it do
        /// not run. Possible with neither ``suspect`` nor ``unsafe``.
        public static let essential = TaskOptions(rawValue: 1)
        /// One crash makes the task suspect; without this option it takes two.
        public static let suspect = TaskOptions(rawValue: 2)
        /// Not run in safe mode.
        public static let unsafe = TaskOptions(rawValue: 4)
        /// Takes the place of a task with the same key that has not run yet; with ``late`` also of
        /// one that runs, which then runs once more, or has run, but not of an essential one that
        /// runs or has failed.
        public static let replace = TaskOptions(rawValue: 8)
        /// After a hold the task waits for ``Launch/replay(_:)``.
        public static let replayByKey = TaskOptions(rawValue: 16)
        /// May be added when all tasks have run. Then it runs at once, on a thread of its own.
        public static let late = TaskOptions(rawValue: 32)
    }
}
