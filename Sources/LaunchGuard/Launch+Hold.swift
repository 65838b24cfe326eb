/// What can be done with a launch that is held. Each call may come from any thread, a closure of the launch included; it returns at
/// once, and says whether it applied.
extension LaunchGuard.Launch {
    /// Start the repair that a held launch waits with: the user said yes. That covers its other attempts in this launch and the repairs
    /// behind it, but for those with ``LaunchGuard/RepairOptions/consent``. C: `lg_launch_repair()`.
    ///
    /// - Returns: true also when a repair runs already; false when none is needed.
    @discardableResult
    public func repair() -> Bool { core.repair() }

    /// The repair that a held launch waits with is not wanted: go to the next rung of the ladder. C: `lg_launch_refuse()`.
    ///
    /// - Returns: false when no repair is needed, and while one runs.
    @discardableResult
    public func refuse() -> Bool { core.refuse() }

    /// Not now: launch normally for this time. After two skips in a row the launch goes on in safe mode instead. C: `lg_launch_skip()`.
    ///
    /// - Returns: false when no repair is needed, and while one runs.
    @discardableResult
    public func skip() -> Bool { core.skip() }

    /// Make one try in safe mode of a launch that is halted. C: `lg_launch_try_safe()`.
    ///
    /// - Returns: false when it is not halted.
    @discardableResult
    public func trySafe() -> Bool { core.trySafe() }

    /// Something is wrong: hold the tasks that have not run yet, repair, and go on. For a program that notices before it crashes.
    /// The task that runs is let finish. In safe mode it has no effect: there is nothing left to try. C: `lg_launch_protect()`.
    ///
    /// - Parameter reason: goes into the log.
    /// - Returns: true also when the launch is held already; false before ``begin()`` and when the launch is finished.
    @discardableResult
    public func protect(reason: String? = nil) -> Bool { core.protect(reason) }
}
