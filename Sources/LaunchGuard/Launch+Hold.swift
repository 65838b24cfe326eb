/// Calls for a launch that is held. Any thread may make them, a closure of the launch included.
/// Each call returns at once, and returns whether it applied.
extension Launch {
    /// Start the repair for which a held launch waits: the user agreed. The consent covers the
    /// other attempts of the repair in this launch and the repairs after it, except those with
    /// ``Launch/RepairOptions/consent``. C: `lg_launch_repair()`.
    ///
    /// - Returns: true also when a repair runs already; false when none is needed.
    @discardableResult
    public func repair() -> Bool { core.repair() }

    /// Refuse the repair for which a held launch waits: go to the next rung of the ladder. C:
    /// `lg_launch_refuse()`.
    ///
    /// - Returns: false when no repair is needed, and while one runs.
    @discardableResult
    public func refuse() -> Bool { core.refuse() }

    /// Put the repair off: launch normally this time. After two skips in a row the launch goes on
    /// in safe mode instead. C: `lg_launch_skip()`.
    ///
    /// - Returns: false when no repair is needed, and while one runs.
    @discardableResult
    public func skip() -> Bool { core.skip() }

    /// The program has repaired itself, for example by what the user chose in the screen of a
    /// protect action. A launch that is held or halted goes on as after a repair that succeeded:
    /// its tasks run, and one more crash holds it again, with every repair that was not tried.
    /// After two such calls, or skips, without a good launch it goes on in safe mode instead. A
    /// program without repairs, but with a protect action, is held by ``protect(reason:)`` for this
    /// call. C: `lg_launch_repaired()`.
    ///
    /// - Returns: false when the launch is not held, and while a repair runs.
    @discardableResult
    public func repaired() -> Bool { core.repaired() }

    /// Make one try in safe mode with a launch that is halted. C: `lg_launch_try_safe()`.
    ///
    /// - Returns: false when the launch is not halted.
    @discardableResult
    public func trySafeMode() -> Bool { core.trySafeMode() }

    /// Hold the tasks that have not run yet, repair, and go on: for a program that notices a
    /// problem before it crashes. The task that runs now may finish. In safe mode the call has no
    /// effect, as nothing is left to try. C: `lg_launch_protect()`.
    ///
    /// - Parameter reason: goes into the log.
    /// - Returns: true also when the launch is held already; false before ``begin()`` and when the
    ///   launch is finished.
    @discardableResult
    public func protect(reason: String? = nil) -> Bool { core.protect(reason) }
}
