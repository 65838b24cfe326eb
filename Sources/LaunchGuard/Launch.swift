import Synchronization

/// An independent launch with its own thresholds, closures and counters, from
/// ``Session/makeLaunch(_:reportAfter:repairAfter:unknownAfter:window:finish:reportWait:policy:)``.
/// C: `lg_launch`.
///
/// Set its closures, then call ``begin()`` once. A closure runs on a thread of LaunchGuard. That
/// thread is the executor of the closure's task, and the closure may block it. A closure does not
/// hold up the concurrency pool, and a pool that other code has blocked does not hold up the
/// launch. A closure that is bound to an actor runs there: `{ @MainActor in … }` on the main actor,
/// which ``begin()`` does not block. The tasks of the closures have the priority and the
/// task-locals of the caller of ``begin()``, such as a tracing context. Any thread and every
/// closure may call every member, with the exception of ``begin()`` and
/// ``waitUntilLaunched(timeout:)``.
///
/// The closures are freed, with what they captured, when the launch is finished and none of its
/// tasks is left; those for events when the session is stopped.
public final class Launch: Sendable {
    /// Name of the context.
    public let name: String

    let core: CoreLaunch
    let hooks: LaunchHooks
    let state: Mutex<State>

    struct State {
        var problem: LaunchGuardError?
        /// Tasks that the core refused. They run all the same, after the others.
        var refusedTasks: [LaunchTask] = []
    }

    init(name: String, core: CoreLaunch, hooks: LaunchHooks, problem: LaunchGuardError?) {
        self.name = name
        self.core = core
        self.hooks = hooks
        state = Mutex(State(problem: problem))
    }

    /// The problem of the launch: the reason why it is unprotected, or the first repair or task
    /// that was refused; `nil` without a problem. The rest of the launch works all the same.
    public var problem: LaunchGuardError? { state.withLock { $0.problem } }

    /// The status now. C: `lg_launch_get_status()`.
    public var status: Status { core.status }

    /// The status now and every later change; ends when the launch is finished or its end was
    /// announced, when ``begin()`` has thrown or an essential task has failed, and when the session
    /// is stopped. Each iteration is independent, and gets every change even when it is slow. C:
    /// `on_status`.
    public var statusUpdates: StatusUpdates { StatusUpdates(source: hooks.statuses) }

    /// All that is known of the context now; `nil` for an unprotected launch. C:
    /// `lg_launch_get_info()`.
    public var info: LaunchInfo? { core.info }

    /// The kind of launch, which ``begin()`` decides. C: `lg_launch_info.mode`.
    public var mode: Mode { core.info?.mode ?? .normal }

    /// Consecutive launch crashes of this context before this run; 0 for an unprotected launch. C:
    /// `lg_launch_streak()`.
    public var streak: Int { core.streak }

    /// Begin the launch: decide by the streak, report, repair, then run the tasks. The call returns
    /// when the tasks have run, or as ``LaunchPolicy/hold`` decides. The launch is then not yet
    /// finished. C: `lg_launch_begin()`.
    ///
    /// A healthy launch goes straight to its tasks. Otherwise the call waits for the closure of
    /// ``onReport(_:)`` and for the repairs. When no repair is left, the launch goes on in safe
    /// mode. By default a cancelled caller changes nothing: ``LaunchPolicy/cancellation``.
    ///
    /// - Throws: ``LaunchGuardError/Code/restart`` when a repair succeeded that needs a restart: no
    ///   task ran, so end the program, or execute it again. ``LaunchGuardError/Code/failed`` when
    ///   an essential task failed: the tasks after it did not run; ``LaunchGuardError/failedTask``
    ///   is its key, and ``LaunchGuardError/underlying`` what it threw.
    ///   ``LaunchGuardError/Code/interrupted`` when the end was announced, or SIGTERM or SIGINT
    ///   came while the launch was held, and ``LaunchGuardError/Code/closed`` when the session was
    ///   stopped: the remaining tasks did not run. ``LaunchGuardError/Code/cancelled`` when the
    ///   caller was cancelled, ``LaunchPolicy/cancellation`` forwards that, and a closure failed
    ///   for this reason, or when the caller was cancelled before the call, which then begins
    ///   nothing. ``LaunchGuardError/Code/state`` when the launch was begun before, and
    ///   ``LaunchGuardError/Code/system`` when no thread can be made. Errors of repairs and other
    ///   tasks are not thrown here: they are in the log.
    nonisolated(nonsending) public func begin() async throws(LaunchGuardError) {
        if hooks.cancellation == .forwarded, Task.isCancelled { throw LaunchGuardError(.cancelled) }
        let context = CallerContext()
        var code: LaunchGuardError.Code
        do throws(LaunchGuardError) {
            code = try await onThread(onCancel: { [hooks, core] in hooks.cancel(context, core) }) { [self] _ in
                hooks.use(context)
                let code = core.begin()
                if code == .ok { runRefusedTasks() }
                return code
            }
        } catch {
            context.end()
            throw error
        }
        if code == .state { hooks.drop(context) } else if code != .ok { hooks.end(core) }
        // From here on the caller is not in question.
        context.isCancelled.store(false, ordering: .sequentiallyConsistent)
        if context.isCutShort.load(ordering: .sequentiallyConsistent), code == .ok || code == .failed { code = .cancelled }
        try check(code)
    }

    /// Wait until the launch is no longer held and its tasks have run, where ``begin()`` does not
    /// wait: with ``LaunchPolicy/Hold/custody``, and after ``protect(reason:)``. A closure of this
    /// launch cannot wait for it, nor can a task that the closure makes while it runs. Do not let a
    /// closure wait for a detached task that waits here. C: `lg_launch_wait()`.
    ///
    /// - Parameter timeout: longest wait; `nil` for no limit.
    /// - Throws: as ``begin()``; ``LaunchGuardError/Code/timeout`` when the time has passed,
    ///   ``LaunchGuardError/Code/cancelled`` when the caller is cancelled, which has no effect on
    ///   the launch; ``LaunchGuardError/Code/state`` before ``begin()``, and where a closure of
    ///   this launch would have to wait.
    nonisolated(nonsending) public func waitUntilLaunched(timeout: Duration? = nil) async throws(LaunchGuardError) {
        let end = timeout.map { ContinuousClock.now + $0 }
        if RunningClosure.isInside(hooks) {
            let code = core.wait(milliseconds: 0)
            guard code != .timeout else { throw LaunchGuardError(.state, "a closure of launch \"\(name)\" cannot wait for this launch") }
            return try check(code)
        }
        let code = try await onThread { [core] isCancelled in
            while true {
                let left = end.map { ContinuousClock.now.duration(to: $0).milliseconds } ?? .max
                let code = core.wait(milliseconds: UInt32(min(max(left, 0), 100)))
                if code != .timeout { return code }
                if isCancelled() { return .cancelled }
                if left <= 0 { return code }
            }
        }
        try check(code)
    }

    /// Mark the launch as finished: at once; with ``Launch/Finish/both`` after the window; without
    /// effect with ``Launch/Finish/time``. While tasks are held, the mark is kept, and counts when
    /// all tasks have run; until then a crash is a launch crash. A task that runs holds up no mark,
    /// unless others are held after it. C: `lg_launch_finished()`.
    ///
    /// - Returns: false without a mark, when the launch is not begun yet or is held.
    @discardableResult
    public func finish() -> Bool { core.finish() }

    private func check(_ code: LaunchGuardError.Code) throws(LaunchGuardError) {
        if code == .failed || code == .cancelled, let failure = hooks.failure { throw LaunchGuardError(code, failure) }
        if code != .ok { throw LaunchGuardError(code) }
    }
}
