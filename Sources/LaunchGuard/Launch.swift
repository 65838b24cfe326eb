import Synchronization

extension LaunchGuard {
    /// An independent launch with its own thresholds, closures and counters, from
    /// ``Session/launch(_:reportAfter:repairAfter:unknownAfter:window:finish:reportWait:)``. C: `lg_launch`.
    ///
    /// Give it its closures, then call ``begin()`` once. They run as tasks of their own, on the concurrency pool unless they are
    /// bound to an actor; while the launch waits for one of them it blocks a thread of LaunchGuard, never one of the pool.
    public final class Launch: Sendable {
        /// Name of the context.
        public let name: String

        let core: CoreLaunch
        let hooks: LaunchHooks
        private let state: Mutex<State>

        private struct State {
            var problem: LaunchGuardError?
            /// Tasks that the core refused; they are run all the same, after the others.
            var refusedTasks: [LaunchHooks.Body] = []
        }

        init(name: String, core: CoreLaunch, hooks: LaunchHooks, problem: LaunchGuardError?) {
            self.name = name
            self.core = core
            self.hooks = hooks
            state = Mutex(State(problem: problem))
        }

        /// What is wrong with the launch: why it is unprotected, or the first repair or task that was refused; `nil` when all is
        /// well. The rest of the launch works all the same.
        public var problem: LaunchGuardError? { state.withLock { $0.problem } }

        /// The status now. C: `lg_launch_get_status()`.
        public var status: Status { core.status }

        /// The status now and every change of it from now on; ends when the launch is finished. Each iteration is one of its
        /// own, and gets every change even when it is slow. C: `on_status`.
        public var statusUpdates: StatusUpdates { StatusUpdates(source: hooks.statuses) }

        /// Consecutive launch crashes of this context before this run; 0 for an unprotected launch. C: `lg_launch_streak()`.
        public var streak: Int { core.streak }

        /// Begin the launch: decide by the streak, report, repair, then run the tasks. Returns when the tasks have run; the
        /// launch is then still to be finished.
        ///
        /// A healthy launch goes straight to its tasks. Otherwise it waits for the closure of ``onReport(_:)`` and for the
        /// repairs, and when no repair is left it goes on all the same. Cancelling the caller has no effect. C: `lg_launch_begin()`.
        ///
        /// - Throws: ``LaunchGuardError/Code/state`` when it was begun before, and ``LaunchGuardError/Code/system`` when no thread
        ///   can be made. What repairs and tasks throw is not thrown here: it is in the log.
        public func begin() async throws(LaunchGuardError) {
            let problem = try await onThread { [self] () -> LaunchGuardError? in
                let code = core.begin()
                guard code == .ok else { return LaunchGuardError(code) }
                hooks.cancelRepair()
                for body in state.withLock({ $0.refusedTasks }) { _ = hooks.runTask(body) }
                return nil
            }
            if let problem { throw problem }
        }

        /// Mark the launch as finished. At once; with ``Finish/both`` after the window; without effect with ``Finish/time``.
        /// C: `lg_launch_finished()`.
        ///
        /// - Returns: false when the launch is not begun yet, or is held: the mark is then not taken.
        @discardableResult
        public func finished() -> Bool { core.finished() }

        func refuse(_ error: LaunchGuardError, task: LaunchHooks.Body? = nil) {
            hooks.log(.error, error.description)
            state.withLock { state in
                if state.problem == nil { state.problem = error }
                if let task, error.code != .state { state.refusedTasks.append(task) }
            }
        }
    }
}
