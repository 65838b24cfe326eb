extension LaunchGuard {
    /// Walks a program's own launches through every state without a crash. C: `lg_simulate_start()`.
    ///
    /// ```swift
    /// let simulation = try LaunchGuard.Simulation()
    /// let launch = prepareLaunch(simulation.session)  // The program's own function.
    /// try await launch.begin()
    /// simulation.end(.crash)                          // It crashed while launching …
    /// try await launch.begin()
    /// simulation.end(.crash)                          // … twice.
    /// try await launch.begin()                        // The report, the repairs, the tasks.
    /// simulation.close()
    /// ```
    ///
    /// A simulated session has a ledger in memory, no files and no signal handlers. There may be any number of them, beside the real one.
    /// Every member may be called from any thread.
    public final class Simulation: Sendable {
        /// The simulated session. Launches are prepared on it once, as on a real one, and then begun in each simulated run.
        public let session: Session

        /// Start a simulation. C: `lg_simulate_start()`.
        ///
        /// - Throws: ``LaunchGuardError/Code/system`` when there is no memory.
        public init() throws(LaunchGuardError) {
            session = Session(core: try CoreSession.simulated(), problem: nil)
        }

        /// End the simulated run and start the next one; its launches can then be begun again. C: `lg_simulate()`.
        ///
        /// It may be called from a closure of a launch: a launch that is under way ends there. Its ``Launch/begin()`` then throws
        /// ``LaunchGuardError/Code/closed``, the tasks that its closures run in are cancelled, and no further closure of it is called.
        ///
        /// - Parameter end: how; ``End/exit`` is one with status 1.
        /// - Returns: false for ``End/running``, which is no end, and after ``close()``.
        @discardableResult
        public func end(_ end: End) -> Bool {
            guard session.core.simulate(end) else { return false }
            for launch in session.preparedLaunches { launch.hooks.beginNextRun() }
            return true
        }

        /// Let simulated time pass: for throttles, forgotten streaks and the way down the ladder between two runs; for the timeout of the
        /// closure that is waited for and the deadline of a hold within one. A launch is not finished by it: that is
        /// ``Launch/finished()`` here. C: `lg_simulate_pass()`.
        ///
        /// - Returns: false for a negative time.
        @discardableResult
        public func pass(_ duration: Duration) -> Bool { session.core.pass(duration.milliseconds) }

        /// Close the simulation: the run ends, and every later call with its session and launches does nothing. What it occupies of
        /// memory stays until the process ends. C: `lg_simulate_close()`.
        public func close() {
            session.core.closeSimulation()
            for launch in session.preparedLaunches { launch.hooks.endLastRun() }
        }
    }
}
