extension LaunchGuard.Launch {
    /// Set the closure that is told of launch crashes, before ``begin()``. C: `on_report`.
    ///
    /// It is called once for each new value of the streak from `reportAfter` on, before anything else of the launch runs. The
    /// launch waits for it at most `reportWait`; it may go on longer. An error that it throws is logged. The task that the last crash
    /// came in is ``LaunchGuard/LaunchInfo/lastTask`` of ``info``.
    ///
    /// - Parameter body: gets the number of consecutive launch crashes and the runs since the last report, oldest first; there may
    ///   be fewer of them than crashes when files are gone.
    public func onReport(_ body: @escaping @Sendable (_ count: Int, _ reports: [LaunchGuard.Report]) async throws -> Void) {
        hooks.setReport(body)
    }

    /// Set the closure that is called when repairs and safe mode did not help and the launch is halted, before ``begin()``: the place to
    /// restore the factory state, to put up a notice or to tell the supervisor to stop trying. C: `on_give_up`.
    ///
    /// The launch waits for it at most `reportWait`, then makes one try in safe mode; where the start is supervised, only after
    /// ``trySafe()``. An error that it throws is logged.
    public func onGiveUp(_ body: @escaping @Sendable () async throws -> Void) {
        hooks.setGiveUp(body)
    }

    /// Set the closure that is told of each change of the status where it happens, before ``begin()``: in order with all other closures
    /// of the launch, which ``statusUpdates`` cannot promise. It must not block. C: `on_status`.
    package func onStatus(_ body: @escaping @Sendable (LaunchGuard.Status) -> Void) {
        hooks.setStatus(body)
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
    ///   - options: what kind of repair it is.
    ///   - body: mends something.
    public func addRepair(
        _ name: String,
        impact: Int,
        timeout: Duration = .seconds(30),
        attempts: Int = 2,
        options: LaunchGuard.RepairOptions = [],
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        do throws(LaunchGuardError) {
            let rung = try Rung(name: name, impact: impact, timeout: timeout, attempts: attempts, options: options)
            try core.addRepair(rung) { [hooks, core] done in
                hooks.runRepair(name, body, done) { core.status }
            }
        } catch {
            refuse(error.naming("repair", name))
        }
    }
}
