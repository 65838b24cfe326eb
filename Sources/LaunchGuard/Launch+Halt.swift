extension Launch {
    /// A halted launch, from ``Configuration/onGiveUp``: safe mode has crashed too. The program may
    /// keep it and answer as it does a ``Hold``.
    public struct Halt: ~Copyable, Sendable {
        let core: CoreHold

        /// Make one try in safe mode. C: `LG_ANSWER_TRY_SAFE`.
        ///
        /// - Returns: whether the answer applied.
        @discardableResult
        public consuming func trySafeMode() -> Bool { core.trySafeMode() }

        /// The program has repaired itself: as ``Hold/repaired()``. C: `LG_ANSWER_REPAIRED`.
        ///
        /// - Returns: whether the answer applied.
        @discardableResult
        public consuming func repaired() -> Bool { core.repaired() }
    }
}
