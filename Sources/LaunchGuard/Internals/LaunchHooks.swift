import Synchronization

/// The callbacks of the core during one launch. Each closure of the program runs as a Swift task on
/// the thread on which the core calls, and the end of the task becomes the answer.
final class LaunchHooks: Sendable {
    typealias Body = @Sendable () async throws -> Void

    private struct State {
        /// The closures of the configuration.
        var closures: Launch.Configuration
        /// By the number that the core hands back.
        var repairs: [Int: Body] = [:]
        var tasks: [Int: LaunchTask] = [:]
        var added = 0
        var failure: TaskFailure?
        /// Whose callbacks these are.
        var launch: CoreLaunch?
        /// Context of the caller of `begin()`.
        var context: CallerContext?
        var running: [Int: Running] = [:]
        var started = 0
    }

    private struct Running {
        let isRepair: Bool
        let task: Task<Void, Never>
    }

    let statuses = StatusBroadcast()
    let session: CoreSession
    let cancellation: Launch.Configuration.Cancellation
    private let state: Mutex<State>

    init(session: CoreSession, _ configuration: Launch.Configuration) {
        self.session = session
        cancellation = configuration.cancellation
        state = Mutex(State(closures: configuration))
    }

    var closures: Launch.Configuration { state.withLock { $0.closures } }

    /// Whether the launch can be begun again, in the next simulated run.
    var isRepeated: Bool { session.isSimulated }

    /// Before any other call.
    func attach(_ launch: CoreLaunch) { state.withLock { $0.launch = launch } }

    func log(_ level: LogLevel, _ message: String) { session.log(level, message) }

    /// - Returns: the number of the repair.
    func add(repair body: @escaping Body) -> Int {
        state.withLock { state in
            state.added += 1
            state.repairs[state.added] = body
            return state.added
        }
    }

    /// - Returns: the number of the task.
    func add(_ task: LaunchTask) -> Int {
        state.withLock { state in
            state.added += 1
            state.tasks[state.added] = task
            return state.added
        }
    }

    /// The core refused the repair or task with this number.
    func remove(_ number: Int) {
        _ = state.withLock { ($0.repairs.removeValue(forKey: number), $0.tasks.removeValue(forKey: number)) }
    }

    func task(_ number: Int) -> LaunchTask? { state.withLock { $0.tasks[number] } }

    /// The failure of the essential task that ended the launch.
    var failure: TaskFailure? { state.withLock { $0.failure } }

    /// The closures run with this context from now on. Those of a launch that was begun before keep
    /// theirs.
    func use(_ context: CallerContext) {
        let isFirst = state.withLock { state in
            if state.context == nil { state.context = context }
            return state.context === context
        }
        if !isFirst { context.end() }
    }

    /// The launch needs the context no more; `nil` for whichever it has.
    func drop(_ context: CallerContext? = nil) {
        let dropped = state.withLock { state in
            context == nil || state.context === context ? state.context.take() : nil
        }
        dropped?.end()
    }

    /// The caller of `begin()` was cancelled.
    func cancel(_ context: CallerContext, _ launch: CoreLaunch) {
        guard cancellation == .forwarded else { return }
        context.isCancelled.store(true, ordering: .sequentiallyConsistent)
        // Another caller has no say in the launch.
        guard state.withLock({ $0.context === context }) else { return }
        cancelAll()
        launch.putOff()
    }

    // MARK: Called on threads of the core

    func decide(_ info: LaunchInfo) -> Launch.Decision { closures.onDecide?(info) ?? .byRule }

    func runReport(_ batch: Launch.ReportBatch, _ done: CoreCompletion) {
        guard let body = closures.onReport else { return done.answer(.ok) }
        done.answer(run("report") { try await body(batch) })
    }

    func runGiveUp(_ hold: CoreHold, _ done: CoreCompletion) {
        guard let body = closures.onGiveUp else { return done.answer(.ok) }
        done.answer(run("give-up") { try await body(Launch.Halt(core: hold)) })
    }

    func runHold(_ hold: CoreHold, _ reason: Launch.Hold.Reason) {
        guard let body = closures.onHold else { return }
        _ = run("hold") { try await body(Launch.Hold(reason: reason, core: hold)) }
    }

    /// One attempt. Its task is cancelled when it is no longer wanted, and the launch waits for it.
    func runRepair(_ name: String, _ number: Int, _ done: CoreCompletion) {
        guard let body = state.withLock({ $0.repairs[number] }) else { return done.answer(.closed) }
        done.answer(run("repair \"\(name)\"", repair: done, body))
    }

    func runTask(_ task: LaunchTask) -> LaunchGuardError.Code { run("task \"\(task.key)\"", task: task, task.run) }

    /// The core runs a task once, but for simulated runs.
    func runTask(_ number: Int) -> LaunchGuardError.Code {
        guard let task = task(number) else { return .closed }
        let code = runTask(task)
        if !isRepeated { spend(number) }
        return code
    }

    func runProtect(_ task: LaunchTask) {
        guard let protect = task.protect else { return }
        _ = run("protect action of task \"\(task.key)\"", protect)
    }

    func runEvent(_ event: String, _ task: LaunchTask) {
        guard let body = task.event else { return }
        _ = run("event \"\(event)\" of task \"\(task.key)\"") { try await body(event) }
    }

    /// The status changed. When it is not "repairing" by now, the attempts that were there before
    /// the look at it are over, also those that run on after their grace: they are cancelled before
    /// the launch goes on.
    func statusChanged(_ status: Launch.Status, of launch: CoreLaunch) {
        let (attempts, context) = state.withLock { ($0.running.values.filter(\.isRepair), $0.context) }
        if !attempts.isEmpty, launch.status != .repairing {
            for attempt in attempts { attempt.task.cancel() }
        }
        if status == .awaitingRepair, isCancelled(context) { launch.putOff() }
        closures.onStatus?(status)
        statuses.publish(status)
        if status == .finished, !isRepeated { release(of: launch) }
    }

    // MARK: The end

    /// The session was stopped.
    func stop(_ launch: CoreLaunch) {
        statuses.finish(launch.status, isClosed: true)
        guard launch.wait(milliseconds: 0) != .state else { return }
        release(of: launch, withEvents: true)
    }

    /// A call of `begin()` did nothing. The next one may, and has updates again.
    func beginsNothing(_ launch: CoreLaunch) {
        guard launch.status == .idle else { return }
        statuses.finish(.idle)
        statuses.restart()
    }

    /// The launch did not get as far as its end, and nothing more of it runs.
    func end(_ launch: CoreLaunch) {
        statuses.finish(launch.status)
        if !isRepeated { release(of: launch) }
    }

    /// The same when no task of the launch runs any more.
    private func endWhenReturned(_ launch: CoreLaunch) {
        startThread { [self] in
            if launch.wait(milliseconds: .max) == .failed { end(launch) }
        }
    }

    /// Free the closures of a launch that is finished, as soon as no thread drives it any more. The
    /// core knows numbers only, so that a late call finds nothing.
    private func release(of launch: CoreLaunch, withEvents: Bool = false) {
        guard launch.wait(milliseconds: 0) == .timeout else { return release(withEvents: withEvents) }
        startThread { [self] in
            _ = launch.wait(milliseconds: .max)
            release(withEvents: withEvents)
        }
    }

    private func spend(_ number: Int) {
        _ = state.withLock { state in
            let freed = state.tasks[number]
            state.tasks[number] = freed?.spent
            return freed
        }
    }

    /// - Parameter withEvents: also the closures for events, and late tasks that wait.
    private func release(withEvents: Bool) {
        drop()
        // Freed outside of the lock, because what a closure captured may call the launch.
        _ = state.withLock { state in
            let freed = state
            state.closures = freed.closures.values
            state.repairs = [:]
            state.tasks = withEvents ? [:] : state.tasks.mapValues { $0.options.contains(.late) ? $0 : $0.spent }
            return freed
        }
    }

    // MARK: Simulation

    /// The simulated run has ended: nothing waits for what still runs.
    func beginNextRun() {
        cancelAll()
        drop()
        state.withLock { $0.failure = nil }
        // The core's own word may come later, from another thread.
        statuses.finish(.idle)
        statuses.restart()
    }

    func endLastRun(_ launch: CoreLaunch) {
        cancelAll()
        statuses.finish(launch.status, isClosed: true)
        release(withEvents: true)
    }

    // MARK: -

    private func isCancelled(_ context: CallerContext?) -> Bool {
        context?.isCancelled.load(ordering: .sequentiallyConsistent) == true
    }

    private func cancelAll() {
        for running in state.withLock({ Array($0.running.values) }) { running.task.cancel() }
    }

    private func run(
        _ what: String, repair: CoreCompletion? = nil, task: LaunchTask? = nil, _ body: @escaping Body
    ) -> LaunchGuardError.Code {
        let (id, context) = state.withLock { state in
            state.started += 1
            return (state.started, state.context)
        }
        defer { state.withLock { _ = $0.running.removeValue(forKey: id) } }
        return OwnThread().run(in: context) { [self] in
            do {
                if repair != nil || task != nil { try Task.checkCancellation() }
                try await CoreCompletion.$ofRepair.withValue(repair) { try await RunningClosure.run(of: self, body) }
                return .ok
            } catch {
                if Task.isCancelled, isCancelled(context) { context?.isCutShort.store(true, ordering: .sequentiallyConsistent) }
                let failure = "\(what) failed: \(error)"
                if let repair { repair.fail("\(error)") } else { log(.error, failure) }
                if let task, task.options.contains(.essential) {
                    let launch = state.withLock { state in
                        state.failure = TaskFailure(key: task.key, error: error, message: failure)
                        return state.launch
                    }
                    if let launch { endWhenReturned(launch) }
                }
                return .failed
            }
        } begin: { running in
            state.withLock { $0.running[id] = Running(isRepair: repair != nil, task: running) }
            // Read only now, so that the event that makes the task unwanted finds a task to cancel.
            if isCancelled(context) { running.cancel() }
            guard let repair else { return }
            startThread {
                repair.waitUntilUnwanted()
                running.cancel()
            }
        }
    }
}
