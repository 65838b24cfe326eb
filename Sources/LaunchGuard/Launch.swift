import Synchronization

/// An independent launch with its own thresholds, closures and counters, from
/// ``Session/launch(_:_:)``.
/// C: `lg_launch`.
///
/// Add its repairs and tasks, then call ``begin()`` once. A closure runs on a thread of
/// LaunchGuard. That thread is the executor of the closure's task, and the closure may block it. A
/// closure does not hold up the concurrency pool, and a pool that other code has blocked does not
/// hold up the launch. A closure that is bound to an actor runs there: `{ @MainActor in … }` on the
/// main actor, which ``begin()`` does not block. The tasks of the closures have the priority and
/// the task-locals of the caller of ``begin()``, such as a tracing context. Any thread and every
/// closure may call every member, with the exception of ``begin()`` and
/// ``waitUntilLaunched(timeout:)``.
///
/// The closures are freed, with what they captured, when the launch is finished and none of its
/// tasks is left; those for events when the session is stopped.
public final class Launch: Sendable {
    /// Name of the context.
    public let name: String
    /// What it does, and when; without the closures, which LaunchGuard keeps.
    public let configuration: Configuration

    let core: CoreLaunch
    let hooks: LaunchHooks
    let state: Mutex<State>

    struct State {
        var problem: LaunchGuardError?
        /// Tasks that the core refused. They run all the same, after the others.
        var refusedTasks: [LaunchTask] = []
    }

    /// Unprotected where there are no options.
    init(_ name: String, _ configuration: Configuration, _ options: LaunchOptions?, _ mistake: LaunchGuardError?, of session: CoreSession) {
        self.name = name
        self.configuration = configuration.values
        hooks = LaunchHooks(session: session, configuration)
        let (core, problem) = session.prepare(options, hooks)
        hooks.attach(core)
        self.core = core
        state = Mutex(State(problem: mistake ?? problem))
    }

    /// The problem of the launch: the reason why it is unprotected, or the first repair or task
    /// that was refused; `nil` without a problem. The rest of the launch works all the same.
    public var problem: LaunchGuardError? { state.withLock { $0.problem } }

    /// The status now. C: `lg_launch_get_state()`.
    public var status: Status { core.status }

    /// The status now and every later change; ends, with the last status, when the launch is
    /// finished or its end was announced, when ``begin()`` returns anything but
    /// ``Outcome/launched``, unless it was begun before, when an essential task has failed, and
    /// when the session is stopped. Each iteration is independent, and gets every change even when
    /// it is slow. C: `on_status`.
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
    /// when the tasks have run, or as ``Launch/Configuration/hold`` decides. The launch is then not
    /// yet finished. C: `lg_launch_begin()`.
    ///
    /// A healthy launch goes straight to its tasks. Otherwise the call waits for
    /// ``Configuration/onReport`` and for the repairs. When no repair is left, the launch goes on
    /// in safe mode. By default a cancelled caller changes nothing:
    /// ``Launch/Configuration/cancellation``.
    ///
    /// An error of an essential task, a network that is away for example, is no crash: it is the
    /// outcome ``Outcome/failed(task:error:)``. The compiler warns of a call whose outcome is
    /// unused, because a program that ignores a failed essential task runs without what it cannot
    /// do without. Errors of repairs and other tasks are in the log. A second call is a mistake of
    /// the program: it has the outcome ``Outcome/refused(_:)``.
    nonisolated(nonsending) public func begin() async -> Outcome {
        if hooks.cancellation == .forwarded, Task.isCancelled {
            hooks.beginsNothing(core)
            return .cancelled(task: nil)
        }
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
            hooks.beginsNothing(core)
            return refused(error)
        }
        if code == .state {
            hooks.drop(context)
            return refused(LaunchGuardError(.state, "launch \"\(name)\" was begun before"))
        }
        if code != .ok { hooks.end(core) }
        // From here on the caller is not in question.
        context.isCancelled.store(false, ordering: .sequentiallyConsistent)
        if context.isCutShort.load(ordering: .sequentiallyConsistent), code == .ok || code == .failed { code = .cancelled }
        return outcome(code)
    }

    /// Wait until the launch is no longer held and its tasks have run, where ``begin()`` does not
    /// wait: with ``Launch/Configuration/Hold/custody``, and after ``protect(reason:)``. A closure
    /// of this launch cannot wait for it, nor can a task that the closure makes while it runs. Do
    /// not let a closure wait for a detached task that waits here. C: `lg_launch_wait()`.
    ///
    /// - Parameter timeout: longest wait; `nil` for no limit.
    /// - Returns: as ``begin()``; ``Outcome/timedOut`` when the time has passed,
    ///   ``Outcome/cancelled(task:)`` when the caller is cancelled, which has no effect on the
    ///   launch; ``Outcome/refused(_:)`` before ``begin()``, and where a closure of this launch
    ///   would have to wait.
    nonisolated(nonsending) public func waitUntilLaunched(timeout: Duration? = nil) async -> Outcome {
        let end = timeout.map { ContinuousClock.now + $0 }
        if RunningClosure.isInside(hooks) {
            let code = core.wait(milliseconds: 0)
            guard code == .timeout else { return outcome(code) }
            return refused(LaunchGuardError(.state, "a closure of launch \"\(name)\" cannot wait for this launch"))
        }
        do throws(LaunchGuardError) {
            let code = try await onThread { [core] isCancelled in
                while true {
                    let left = end.map { ContinuousClock.now.duration(to: $0).milliseconds } ?? .max
                    let code = core.wait(milliseconds: UInt32(min(max(left, 0), 100)))
                    if code != .timeout { return code }
                    if isCancelled() { return .cancelled }
                    if left <= 0 { return code }
                }
            }
            return outcome(code)
        } catch {
            return refused(error)
        }
    }

    /// Mark the launch as finished: at once; with ``Launch/Finish/both`` after the window; without
    /// effect with ``Launch/Finish/time``. While tasks are held, the mark is kept, and counts when
    /// all tasks have run; until then a crash is a launch crash. A task that runs holds up no mark,
    /// unless others are held after it. C: `lg_launch_finished()`.
    ///
    /// - Returns: false without a mark, when the launch is not begun yet or is held.
    @discardableResult
    public func finish() -> Bool { core.finish() }

    private func refused(_ error: LaunchGuardError) -> Outcome {
        hooks.log(.error, error.description)
        return .refused(error)
    }

    private func outcome(_ code: LaunchGuardError.Code) -> Outcome {
        switch code {
        case .ok: return .launched
        case .failed:
            guard let failure = hooks.failure else { return .refused(LaunchGuardError(code)) }
            return .failed(task: failure.key, error: failure.error)
        case .restart: return .restartNeeded
        case .interrupted: return .interrupted
        case .cancelled: return .cancelled(task: hooks.failure?.key)
        case .closed: return .closed
        case .timeout: return .timedOut
        default: return refused(LaunchGuardError(code))
        }
    }
}
