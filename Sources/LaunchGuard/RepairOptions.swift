extension LaunchGuard {
    /// Kinds of repairs. C: `LG_REPAIR_…`.
    public struct RepairOptions: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// It loses something: a new series of attempts at most once in 24 h.
        public static let destructive = RepairOptions(rawValue: 1)
        /// It waits for ``Launch/repair()``, also where repairs start by themselves.
        public static let consent = RepairOptions(rawValue: 2)
        /// When it has succeeded the program has to be started again: ``Launch/begin()`` throws ``LaunchGuardError/Code/restart``.
        public static let needsRestart = RepairOptions(rawValue: 4)
    }
}
