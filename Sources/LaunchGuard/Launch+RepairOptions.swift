extension Launch {
    /// Kinds of repairs. C: `LG_REPAIR_…`.
    public struct RepairOptions: OptionSet, Hashable, Sendable {
        /// The bits, as in C.
        public let rawValue: UInt32

        /// Make the set of these bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The repair loses something: a new series of attempts at most once in 24 h.
        public static let destructive = RepairOptions(rawValue: 1)
        /// The repair waits for ``Launch/Hold/repair()``, also where repairs start by themselves.
        public static let consent = RepairOptions(rawValue: 2)
        /// A successful repair needs a new start of the program: ``Launch/begin()`` throws
        /// ``LaunchGuardError/Code/restart``.
        public static let needsRestart = RepairOptions(rawValue: 4)
    }
}
