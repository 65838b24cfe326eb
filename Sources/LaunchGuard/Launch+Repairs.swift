extension Launch {
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
