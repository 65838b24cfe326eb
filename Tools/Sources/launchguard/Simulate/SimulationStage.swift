import LaunchGuard
import Synchronization

/// The closures of the simulated launch. The stage notes the closures that run, and suspends a
/// closure where the scenario decides its outcome.
final class SimulationStage: Sendable {
    /// A suspended closure.
    enum Place: Hashable {
        case report, protect, giveUp
        case task(String)
        case repair(String)
    }

    /// The outcome of `begin()`.
    enum Outcome {
        case launched, restart, closed
    }

    private struct State: ~Copyable {
        var launch: Launch?
        var tasks: [SimulatedTask] = []
        var callbacks: [SimulatedCallback] = []
        var place: Place?
        var answer: AsyncStream<Bool>.Continuation?
        /// The place in which the run is to be suspended, beside its repairs.
        var stop: Place?
        /// Between two runs nothing is noted: a process that is gone sees no status.
        var isBetweenRuns = true
        var outcome: Outcome?
        /// The last one that was passed on.
        var status = Launch.Status.idle
        var decision = Launch.Decision.byRule
        var wasHeld = false
        /// What waits for the answer of the program.
        var hold: Launch.Hold?
        var halt: Launch.Halt?
        /// Tasks that are noted as run or left out.
        var noted: Set<String> = []
    }

    private let state = Mutex(State())

    func watch(_ launch: Launch, tasks: [SimulatedTask]) {
        state.withLock { state in
            state.launch = launch
            state.tasks = tasks
        }
    }

    // MARK: - For the closures

    func statusChanged(_ status: Launch.Status) {
        let info = state.withLock { $0.launch }?.info
        state.withLock { state in
            state.status = status
            guard !state.isBetweenRuns else { return }
            let isHalted = status == .awaitingRepair && info?.isHalted == true
            state.wasHeld = state.wasHeld || status == .awaitingRepair
            state.callbacks.append(SimulatedCallback(kind: .status, status: status.word, isHalted: isHalted ? true : nil))
            if status == .repairing, info?.rung == 0 { state.callbacks.append(SimulatedCallback(kind: .builtIn)) }
        }
    }

    func decide(_ info: LaunchInfo) -> Launch.Decision {
        let decision = state.withLock { $0.decision }
        if decision != .byRule { note(SimulatedCallback(kind: .decide, name: decision.word, streak: info.streak, status: info.status.word)) }
        return decision
    }

    func report(streak: Int) async {
        note(SimulatedCallback(kind: .report, streak: streak))
        if state.withLock({ $0.stop == .report }) { _ = await stand(.report) }
    }

    func keep(_ hold: consuming Launch.Hold) {
        var hold = Optional(hold)
        state.withLock { if !$0.isBetweenRuns { $0.hold = hold.take() } }
    }

    func giveUp(_ halt: consuming Launch.Halt) async {
        note(SimulatedCallback(kind: .giveUp))
        var halt = Optional(halt)
        if state.withLock({ $0.stop == .giveUp }) { _ = await stand(.giveUp) }
        state.withLock { if !$0.isBetweenRuns { $0.halt = halt.take() } }
    }

    func repair(_ name: String) async throws {
        let attempt = state.withLock { $0.launch }?.info?.attempts ?? 0
        note(SimulatedCallback(kind: .repair, name: name, attempt: attempt, outcome: .begins))
        if await stand(.repair(name)) != true { throw CancellationError() }
    }

    func protect(_ key: String) async {
        note(SimulatedCallback(kind: .protect, name: key))
        if state.withLock({ $0.stop == .protect }) { _ = await stand(.protect) }
    }

    func run(_ key: String) async {
        noteLeftOut(before: key)
        let stops = state.withLock { $0.stop == .task(key) }
        note(SimulatedCallback(kind: .task, name: key, outcome: stops ? .begins : .run))
        if stops { _ = await stand(.task(key)) }
    }

    /// Until the answer comes; nil: the run is over, or the launch no longer waits.
    private func stand(_ place: Place) async -> Bool? {
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        state.withLock { state in
            state.place = place
            state.answer = answer
        }
        for await answer in answers { return answer }
        return nil
    }

    /// The tasks in front of this one that will not run; nil: all of them.
    private func noteLeftOut(before key: String?) {
        let (launch, tasks) = state.withLock { ($0.launch, $0.tasks) }
        for task in tasks.prefix(while: { $0.key != key }) where launch?.state(ofTask: task.key) == .leftOut {
            note(SimulatedCallback(kind: .task, name: task.key, outcome: task.isLeftOut ? .omitted : .leftOut))
        }
    }

    // MARK: - For the simulator

    /// Nothing more of the ending run is noted, and none of its closures is suspended.
    func endRun() {
        state.withLock { state in
            state.isBetweenRuns = true
            state.place = nil
            state.answer = nil
            state.hold = nil
            state.halt = nil
        }
    }

    func beginRun(stop: Place?, decision: Launch.Decision) {
        state.withLock { state in
            state.isBetweenRuns = false
            state.decision = decision
            state.stop = stop
            state.outcome = nil
            state.wasHeld = false
            state.noted = []
        }
    }

    /// The tasks run again, or wait for a repair.
    func goBack() { state.withLock { $0.outcome = nil } }

    /// The launch has finished its begin; to be called while its run goes on.
    func goOn(_ outcome: Outcome) {
        guard outcome != .closed else { return }
        if outcome == .launched { noteLeftOut(before: nil) }
        if outcome == .restart { note(SimulatedCallback(kind: .begin, outcome: .restart)) }
        state.withLock { $0.outcome = outcome }
    }

    /// Resume the suspended closure.
    func answer(_ isWell: Bool) {
        let answer = state.withLock { state in
            state.place = nil
            return state.answer.take()
        }
        answer?.yield(isWell)
    }

    /// The launch no longer waits for the suspended closure, which will be cancelled.
    func leave() {
        state.withLock { state in
            state.place = nil
            state.answer = nil
        }
    }

    var place: Place? { state.withLock { $0.place } }

    /// A change of the launch's status comes here a moment later.
    var status: Launch.Status { state.withLock { $0.status } }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Only after a hold tasks wait for their keys.
    var wasHeld: Bool { state.withLock { $0.wasHeld } }

    var hasHold: Bool { state.withLock { $0.hold != nil } }

    var hasHalt: Bool { state.withLock { $0.halt != nil } }

    /// To be answered, or to be dropped when its deadline has passed.
    func takeHold() -> Launch.Hold? { state.withLock { $0.hold.take() } }

    func takeHalt() -> Launch.Halt? { state.withLock { $0.halt.take() } }

    func takeCallbacks() -> [SimulatedCallback] {
        state.withLock { state in
            defer { state.callbacks = [] }
            return state.callbacks
        }
    }

    func note(_ callback: SimulatedCallback) {
        state.withLock { state in
            guard !state.isBetweenRuns else { return }
            if callback.kind == .task, let name = callback.name, !state.noted.insert(name).inserted { return }
            state.callbacks.append(callback)
        }
    }
}

extension Launch.Decision {
    fileprivate var word: String {
        switch self {
        case .byRule: "by rule"
        case .goOn: "go on"
        case .protect: "protect"
        case .hold: "hold"
        }
    }
}
