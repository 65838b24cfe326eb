extension LaunchTask {
    /// Kinds of tasks. C: `LG_TASK_…`.
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Left out by ``LaunchGuard/LaunchGuard/Launch/leaveOut(_:)`` only. When the task fails,
        /// the tasks behind it do not run. Possible with neither ``suspect`` nor ``unsafe``.
        public static let essential = Flags(rawValue: 1)
        /// One crash makes the task suspect; without this flag it takes two.
        public static let suspect = Flags(rawValue: 2)
        /// Not run in safe mode.
        public static let unsafe = Flags(rawValue: 4)
        /// Takes the place of a task with the same key that has not run yet.
        public static let replace = Flags(rawValue: 8)
        /// After a hold the task waits for ``LaunchGuard/LaunchGuard/Launch/replay(_:)``.
        public static let byKey = Flags(rawValue: 16)
        /// May be added when all tasks have run. Then it runs at once, on a thread of its own.
        public static let late = Flags(rawValue: 32)
    }
}
