extension LaunchGuard.Launch {
    /// Set the closure that is told of launch crashes, before ``begin()``. C: `on_report`.
    ///
    /// It is called once for each new value of the streak from `reportAfter` on, before anything else of the launch runs. The
    /// launch waits for it at most `reportWait`; it may go on longer. An error that it throws is logged.
    ///
    /// - Parameter body: gets the number of consecutive launch crashes and the runs since the last report, oldest first; there may
    ///   be fewer of them than crashes when files are gone.
    public func onReport(_ body: @escaping @Sendable (_ count: Int, _ reports: [LaunchGuard.Report]) async throws -> Void) {
        hooks.setReport(body)
    }

    /// Add a repair, before ``begin()``. C: `lg_launch_add_repair()`.
    ///
    /// A repair that throws has failed; so has one that takes longer than its timeout, whose task is then cancelled: let it check
    /// for cancellation, because the next attempt does not wait for it. A repair that is refused (a name that is empty, too long
    /// or taken, a number out of range, more than 16 repairs) is never tried, and ``problem`` says why.
    ///
    /// - Parameters:
    ///   - name: 1 to 63 bytes, unique in its context.
    ///   - impact: how disruptive it is, 0 to 100; the least disruptive is tried first.
    ///   - timeout: time for one attempt, at most a day.
    ///   - attempts: how often it is tried before the next rung of the ladder, 1 to 100.
    ///   - body: mends something.
    public func addRepair(
        _ name: String,
        impact: Int,
        timeout: Duration = .seconds(30),
        attempts: Int = 2,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        do {
            let options = try RepairOptions(name: name, impact: impact, timeout: timeout, attempts: attempts)
            let named = LaunchHooks.Body(name: name, run: body)
            try core.addRepair(options) { [hooks] done in hooks.startRepair(named, done) }
        } catch {
            refuse(error.naming("repair", name))
        }
    }

    /// Add a launch task, before ``begin()``. C: `lg_launch_add_task()`.
    ///
    /// Tasks run one after the other in the order of registration, and are held while a report or a repair runs. An error that
    /// one throws is logged, and the launch goes on. A task that is refused (a key that is empty, too long or taken, more than 64
    /// tasks) still runs, after the others, and ``problem`` says why it was; one that is added after ``begin()`` does not run.
    ///
    /// - Parameters:
    ///   - key: 1 to 63 bytes, unique in its context; it is in the run file while the task runs.
    ///   - body: does a part of the launch.
    public func addTask(_ key: String, _ body: @escaping @Sendable () async throws -> Void) {
        let named = LaunchHooks.Body(name: key, run: body)
        do {
            try core.addTask(key) { [hooks] in hooks.runTask(named) }
        } catch {
            refuse(error.naming("task", key), task: named)
        }
    }
}
