extension Launch {
    /// Set the closure that decides the course of the launch, before ``begin()``. C: `on_decide`.
    ///
    /// ``begin()`` calls the closure on its own thread, before anything of the launch is done:
    /// answer at once. A launch in shadow ignores the answer. A death inside the closure counts as
    /// a launch crash. After two such deaths since the last finished launch or repair the rule
    /// decides, and the closure is not called.
    ///
    /// - Parameter body: receives the context as the rule would have it in this launch:
    ///   ``LaunchInfo/status`` is ``Launch/Status/needsRepair`` where the rule would hold the
    ///   launch.
    public func onDecide(_ body: @escaping @Sendable (LaunchInfo) -> Launch.Decision) {
        hooks.setDecide(body)
    }

    /// Set the closure for reports of launch crashes, before ``begin()``. C: `on_report`.
    ///
    /// The closure is called once for each new value of the streak from `reportAfter` on, once
    /// where unexplained deaths reach `unknownAfter`, and once after an end that came while no
    /// launch was under way, before anything else of the launch runs. The launch waits for it at
    /// most `reportWait`; the closure may run longer. An error that the closure throws is logged.
    /// ``LaunchInfo/lastTask`` of ``info`` is the task in which the last crash happened.
    ///
    /// - Parameter body: receives the number of consecutive launch crashes, 0 where only
    ///   unexplained deaths or ends after a launch are reported, and the runs since the last
    ///   report, oldest first. The runs may be fewer than the crashes when files are gone.
    public func onReport(_ body: @escaping @Sendable (_ count: Int, _ reports: [Report]) async throws -> Void) {
        hooks.setReport(body)
    }

    /// Set the closure that is called when repairs and safe mode did not help and the launch is
    /// halted, before ``begin()``. The closure is the place to restore the factory state, to show a
    /// notice, or to ask the supervisor to stop trying. C: `on_give_up`.
    ///
    /// The launch waits for the closure at most `reportWait`, then makes one try in safe mode.
    /// Where the start is supervised, it makes that try only after ``trySafeMode()``. An error that
    /// the closure throws is logged.
    public func onGiveUp(_ body: @escaping @Sendable () async throws -> Void) {
        hooks.setGiveUp(body)
    }

    /// Set the closure for changes of the status, before ``begin()``. The closure is called where
    /// the change happens, in order with all other closures of the launch, which ``statusUpdates``
    /// cannot promise. The closure must not block. C: `on_status`.
    public func onStatus(_ body: @escaping @Sendable (Launch.Status) -> Void) {
        hooks.setStatus(body)
    }

    /// Add a repair, before ``begin()``. C: `lg_launch_add_repair()`.
    ///
    /// A repair that throws has failed. A repair that takes longer than its timeout has failed,
    /// too, and its task is then cancelled, as it is when the program announces its end: let the
    /// repair check for cancellation, because the next attempt and the tasks wait for it, at most
    /// as long as ``Launch/Configuration/overrun`` says. A repair that is refused (a name that is
    /// empty, too long or taken, a number out of range, more than 16 repairs) is never tried, and
    /// ``problem`` gives the reason.
    ///
    /// - Parameters:
    ///   - name: 1 to 63 bytes, unique in its context.
    ///   - impact: impact of the repair, from 0 (least disruptive) to 100; the least disruptive
    ///     repair is tried first.
    ///   - timeout: time for one attempt, at most a day.
    ///   - attempts: attempts before the next rung of the ladder, 1 to 100.
    ///   - options: the kind of repair.
    ///   - body: the repair itself.
    public func addRepair(
        _ name: String,
        impact: Int,
        timeout: Duration = .seconds(30),
        attempts: Int = 2,
        options: Launch.RepairOptions = [],
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        do throws(LaunchGuardError) {
            let rung = try Rung(name: name, impact: impact, timeout: timeout, attempts: attempts, options: options)
            let number = hooks.add(repair: body)
            do throws(LaunchGuardError) {
                try core.addRepair(rung) { [hooks] done in
                    hooks.runRepair(name, number, done)
                }
            } catch {
                hooks.remove(number)
                throw error
            }
        } catch {
            refuse(error.naming("repair", name))
        }
    }
}
