extension Launch {
    /// A held launch that waits for an answer of the program, from ``Configuration/onHold``. C:
    /// `lg_held`.
    ///
    /// Answer at once, or keep the hold, in the model of a window for example, and answer later,
    /// from any thread:
    ///
    /// ```swift
    /// question = hold                    // Of the type Launch.Hold?
    /// question.take()?.repair()          // When the user says yes.
    /// ```
    ///
    /// An answer returns at once: whether it applied. A hold that is over, because another answer
    /// came first, its deadline has passed or the launch has ended, has no effect, on a later hold
    /// neither. A hold that is dropped without an answer changes nothing: the launch goes on in
    /// safe mode after ``Configuration/holdDeadline``.
    public struct Hold: ~Copyable, Sendable {
        /// The reason why the launch waits.
        public let reason: Reason

        let core: CoreHold

        /// Start the repair: the user agreed. The consent covers the other attempts of the repair
        /// in this launch and the repairs after it, except those with
        /// ``Launch/RepairOptions/consent``. C: `LG_ANSWER_REPAIR`.
        ///
        /// - Returns: whether the answer applied.
        @discardableResult
        public consuming func repair() -> Bool { core.repair() }

        /// Refuse the repair: go to the next rung of the ladder. C: `LG_ANSWER_REFUSE`.
        ///
        /// - Returns: whether the answer applied.
        @discardableResult
        public consuming func refuse() -> Bool { core.refuse() }

        /// Put the repair off: launch normally this time. After two skips in a row the launch goes
        /// on in safe mode instead. C: `LG_ANSWER_SKIP`.
        ///
        /// - Returns: whether the answer applied.
        @discardableResult
        public consuming func skip() -> Bool { core.skip() }

        /// The program has repaired itself, for example by what the user chose in the screen of a
        /// protect action. The launch goes on as after a repair that succeeded: its tasks run, and
        /// one more crash holds it again, with every repair that was not tried. After two such
        /// answers, or skips, without a good launch it goes on in safe mode instead. A program
        /// without repairs, but with a protect action, is held by ``Launch/protect(reason:)`` for
        /// this answer. C: `LG_ANSWER_REPAIRED`.
        ///
        /// - Returns: whether the answer applied.
        @discardableResult
        public consuming func repaired() -> Bool { core.repaired() }
    }
}
