/// Walks a program's own launches through every state without a crash.
///
/// ```swift
/// let simulation = try Simulation()
/// let launch = prepareLaunch(simulation.session)  // The program's own function.
/// _ = await launch.begin()
/// simulation.end(.crash)                          // It crashed while launching …
/// _ = await launch.begin()
/// simulation.end(.crash)                          // … twice.
/// let outcome = await launch.begin()              // The report, the repairs, the tasks.
/// simulation.close()
/// ```
///
/// A simulated session has a ledger in memory, no files and no signal handlers. A process may have
/// any number of them beside the real session. Any thread may call every member.
public final class Simulation: Sendable {
    /// The simulated session. Prepare launches on it once, as on a real one, and begin them in each
    /// simulated run.
    public let session: Session

    /// Start a simulation.
    ///
    /// - Throws: ``LaunchGuardError/Code/system`` without memory.
    public init() throws(LaunchGuardError) {
        session = Session(core: try CoreSession.simulated(), problem: nil)
    }

    /// End the simulated run and start the next one. Its launches can then be begun again.
    ///
    /// A closure of a launch may make this call: a launch that is under way ends there. Its
    /// ``Launch/begin()`` then returns ``Launch/Outcome/closed``, the tasks of its closures
    /// are cancelled, and no further closure of the launch is called.
    ///
    /// - Parameter end: the end; ``Report/End/exit`` has status 1.
    /// - Returns: false for ``Report/End/running``, which is no end, and after ``close()``.
    @discardableResult
    public func end(_ end: Report.End) -> Bool {
        guard session.core.simulate(end) else { return false }
        for launch in session.preparedLaunches { launch.hooks.beginNextRun() }
        return true
    }

    /// Let simulated time pass. Between two runs the time counts for throttles, forgotten streaks
    /// and the way down the ladder. Within a run it counts for the timeout of the pending closure
    /// and for the deadline of a hold. It finishes no launch: a simulated launch is finished by
    /// ``Launch/finish()``.
    ///
    /// - Returns: false for a negative time.
    @discardableResult
    public func pass(_ duration: Duration) -> Bool { session.core.pass(duration.milliseconds) }

    /// Close the simulation: the run ends, and every later call with its session and launches does
    /// nothing. Its memory stays in use until the process ends.
    public func close() {
        session.core.closeSimulation()
        for launch in session.preparedLaunches { launch.hooks.endLastRun(launch.core) }
        session.deliveredReports.finish()
    }
}
