import Synchronization

extension LaunchGuard {
    /// An independent launch with its own thresholds, closures and counters, from
    /// ``Session/launch(_:reportAfter:repairAfter:unknownAfter:window:finish:reportWait:policy:)``. C: `lg_launch`.
    ///
    /// Give it its closures, then call ``begin()`` once. A closure runs on a thread of LaunchGuard, which is the executor of its task
    /// and which it may block: neither does it hold up the concurrency pool, nor does a pool that others have blocked hold up the
    /// launch. A closure that is bound to an actor runs there: `{ @MainActor in … }` on the main actor, which ``begin()`` does not block.
    /// Every member may be called from any thread and from every closure, but for ``begin()`` and ``waitUntilLaunched(timeout:)``.
    public final class Launch: Sendable {
        /// Name of the context.
        public let name: String

        let core: CoreLaunch
        let hooks: LaunchHooks
        let state: Mutex<State>

        struct State {
            var problem: LaunchGuardError?
            /// Tasks that the core refused; they are run all the same, after the others.
            var refusedTasks: [LaunchTask] = []
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

        /// All that is known of the context now; `nil` for an unprotected launch. C: `lg_launch_get_info()`.
        public var info: LaunchInfo? { core.info }

        /// What kind of launch it is; decided by ``begin()``. C: `lg_launch_info.mode`.
        public var mode: Mode { core.info?.mode ?? .normal }

        /// Consecutive launch crashes of this context before this run; 0 for an unprotected launch. C: `lg_launch_streak()`.
        public var streak: Int { core.streak }

        /// Begin the launch: decide by the streak, report, repair, then run the tasks. Returns when the tasks have run, or as
        /// ``LaunchPolicy/hold`` says; the launch is then still to be finished. C: `lg_launch_begin()`.
        ///
        /// A healthy launch goes straight to its tasks. Otherwise it waits for the closure of ``onReport(_:)`` and for the
        /// repairs, and when no repair is left it goes on in safe mode. Cancelling the caller has no effect.
        ///
        /// - Throws: ``LaunchGuardError/Code/restart`` when a repair succeeded that asks for a restart: no task was run, so end the
        ///   program, or execute it again. ``LaunchGuardError/Code/failed`` when an essential task failed: those behind it were not run.
        ///   ``LaunchGuardError/Code/closed`` when the end was announced meanwhile: the tasks that were left were not run.
        ///   ``LaunchGuardError/Code/state`` when it was begun before, and ``LaunchGuardError/Code/system`` when no thread can be made.
        ///   What repairs and other tasks throw is not thrown here: it is in the log.
        nonisolated(nonsending) public func begin() async throws(LaunchGuardError) {
            let code = try await onThread { [self] _ in
                let code = core.begin()
                if code == .ok { runRefusedTasks() }
                return code
            }
            try check(code)
        }

        /// Wait until the launch is no longer held and its tasks have run, where ``begin()`` does not: with ``Hold/custody``, and after
        /// ``protect(reason:)``. Not from a closure of this launch. C: `lg_launch_wait()`.
        ///
        /// - Parameter timeout: at most so long; `nil` for without end.
        /// - Throws: as ``begin()``; ``LaunchGuardError/Code/timeout`` when the time has passed, and when the caller is cancelled;
        ///   ``LaunchGuardError/Code/state`` before ``begin()``.
        nonisolated(nonsending) public func waitUntilLaunched(timeout: Duration? = nil) async throws(LaunchGuardError) {
            let end = timeout.map { ContinuousClock.now + $0 }
            let code = try await onThread { [core] isCancelled in
                while true {
                    let left = end.map { ContinuousClock.now.duration(to: $0).milliseconds } ?? .max
                    let code = core.wait(milliseconds: UInt32(min(max(left, 0), 100)))
                    if code != .timeout || left <= 0 || isCancelled() { return code }
                }
            }
            try check(code)
        }

        /// Mark the launch as finished. At once; with ``Finish/both`` after the window; without effect with ``Finish/time``.
        /// C: `lg_launch_finished()`.
        ///
        /// - Returns: false when the launch is not begun yet, or is held: the mark is then not taken.
        @discardableResult
        public func finished() -> Bool { core.finished() }

        private func check(_ code: LaunchGuardError.Code) throws(LaunchGuardError) {
            if code == .failed { throw LaunchGuardError(code, hooks.lastTaskFailure) }
            if code != .ok { throw LaunchGuardError(code) }
        }
    }
}
