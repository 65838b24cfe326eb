import LaunchGuard
import LaunchGuardReportModel

/// Walks a launch through a scenario. When a run has ended, the next run begins by itself and goes
/// on until it needs the next event: until it is launched, until a repair waits for its outcome, or
/// until the launch is held for the user.
final class Simulator {
    /// The event for which the launch waits.
    private enum Situation: Equatable {
        case launching, finished, restart
        case repairing(String)
        case held, halted
        /// The remaining tasks wait for their keys.
        case replaying
        case inReport, inProtect, inGiveUp
        /// The run has not begun its launch.
        case beforeBegin
        case inTask(String)
    }

    /// The core settles in microseconds; a machine under load may take longer.
    private static let patience = Duration.seconds(60)

    private let policy: PolicyOptions
    private let simulation: Simulation
    private let launch: Launch
    private let stage = SimulationStage()
    private var report: SimulationReport
    /// Called after each step.
    private let show: (SimulationReport.Step) -> Void

    private var begun: Task<Void, Never>?
    private var situation: Situation?
    /// The program's word for the next launch, and for this one.
    private var nextDecision = Launch.Decision.byRule
    private var decision = Launch.Decision.byRule
    /// Simulated time since the start, since the begin of the attempt, and left of the hold.
    private var passed = Duration.zero
    private var attemptPassed = Duration.zero
    private var holdLeft = Duration.zero
    /// The begin of the last attempt, by rung.
    private var series: [Int: Duration] = [:]

    init(_ policy: PolicyOptions, show: @escaping (SimulationReport.Step) -> Void) throws {
        self.policy = policy
        self.show = show
        report = SimulationReport(policy: .init(policy))
        simulation = try Simulation()
        launch = try policy.prepare(simulation, stage)
    }

    /// Play a scenario. The report has all steps, and the context at the end.
    func run(_ words: [SimulationWord]) async throws -> SimulationReport {
        try await step("start", nil) { try await self.begin(before: words.first) }
        for (index, word) in words.enumerated() {
            let next = index + 1 < words.count ? words[index + 1] : nil
            try await step(word.text, word.remark) { try await self.play(word, next) }
        }
        report.context = context()
        simulation.close()
        return report
    }

    private func step(_ event: String, _ remark: String?, _ body: () async throws -> Void) async throws {
        let before = standing
        try await body()
        let callbacks = stage.takeCallbacks()
        if callbacks.contains(where: { $0.kind == .builtIn }) { series[0] = passed }
        let step = SimulationReport.Step(
            number: report.steps.count, event: event, remark: remark, before: before, after: standing, callbacks: callbacks)
        report.steps.append(step)
        show(step)
    }

    private var standing: SimulationReport.Standing { .init(launch.info, launch.status, policy.repairs) }

    // MARK: - Words

    private func play(_ word: SimulationWord, _ next: SimulationWord?) async throws {
        switch (word.event, situation) {
        case (.wait(let time), _):
            try await wait(time)
            if situation == nil, next?.event.isWait != true { try await begin(before: next) }
        case (.decide(let decision), _):
            nextDecision = decision
        case (.end(let end), _?):
            try await self.end(end, next)
        case (.endInTask(let end, let key), .inTask(let place)) where key == place:
            try await self.end(end, next)
        case (.crashInReport, .inReport), (.crashInRepair, .repairing), (.crashInProtect, .inProtect), (.crashInGiveUp, .inGiveUp),
            (.crashBeforeBegin, .beforeBegin):
            try await self.end(.crash, next)
        case (.finish, .launching):
            launch.finish()
            try await settle()
        case (.protect, .launching):
            try await protect()
        case (.ok, .repairing(let name)):
            answer(name, .ok)
            try await settle()
        case (.fail, .repairing(let name)):
            answer(name, .failed)
            try await settle()
        case (.timeout, .repairing):
            try await wait(SimulatedRepair.timeout)
        case (.timeout, .held), (.timeout, .halted):
            try await wait(holdLeft)
        case (.repair, .held):
            let attempts = launch.info?.attempts
            stage.takeHold()?.repair()
            try await settle { $0?.attempts != attempts }
        case (.refuse, .held):
            stage.takeHold()?.refuse()
            try await settle()
        case (.skip, .held):
            stage.takeHold()?.skip()
            try await settle()
        case (.repaired, .held):
            stage.takeHold()?.repaired()
            try await settle()
        case (.repaired, .halted):
            stage.takeHalt()?.repaired()
            try await settle()
        case (.replay(let key), .replaying) where launch.state(ofTask: key) == .held:
            launch.replay(key)
            try await settle { [launch] _ in launch.state(ofTask: key) != .held && launch.state(ofTask: key) != .running }
        case (.trySafe, .halted):
            stage.takeHalt()?.trySafeMode()
            try await settle()
        default:
            throw ScenarioError(word.position, word.text, mistake(word))
        }
    }

    private func mistake(_ word: SimulationWord) -> String {
        let here = situation.map(Self.possible) ?? ("no run is under way", [])
        let words = here.1.isEmpty ? "" : here.1.joined(separator: ", ") + ", "
        let more =
            switch word.event {
            case .endInTask, .crashInReport, .crashInProtect, .crashInGiveUp, .crashBeforeBegin:
                "; this event belongs right after the end that starts its run, and the run must reach that place"
            default: ""
            }
        return "\(here.0); possible here: \(words)an end (\(SimulationWord.ends.map(\.rawValue).joined(separator: " "))), decide:COURSE for the next launch, or wait:TIME\(more)"
    }

    private static func possible(_ situation: Situation) -> (String, [String]) {
        switch situation {
        case .launching: ("the launch is under way, and its tasks have run", ["finish", "protect"])
        case .finished: ("the launch is finished", [])
        case .restart: ("the program is about to be started again", [])
        case .repairing(let name): ("the repair \"\(name)\" runs", ["ok", "fail", "timeout", "crash-in-repair"])
        case .held: ("the launch is held for a repair that waits for consent", ["repair", "refuse", "skip", "repaired", "timeout"])
        case .halted: ("the launch is halted and waits", ["try-safe", "repaired", "timeout"])
        case .replaying: ("the remaining tasks wait for their keys", ["replay:TASK"])
        case .inReport: ("on_report runs", ["crash-in-report"])
        case .inTask(let key): ("the task \"\(key)\" runs", ["crash-in:\(key)", "killed-in:\(key)", "terminated-in:\(key)"])
        case .inProtect: ("a protect action runs", ["crash-in-protect"])
        case .inGiveUp: ("on_give_up runs", ["crash-in-give-up"])
        case .beforeBegin: ("the launch has not begun", ["crash-before-begin"])
        }
    }

    private func answer(_ name: String, _ outcome: SimulatedCallback.Outcome) {
        noteRepair(name, outcome)
        stage.answer(outcome == .ok)
    }

    private func noteRepair(_ name: String, _ outcome: SimulatedCallback.Outcome) {
        stage.note(SimulatedCallback(kind: .repair, name: name, attempt: launch.info?.attempts ?? 0, outcome: outcome))
    }

    private func protect() async throws {
        let before = launch.mode
        stage.goBack()
        launch.protect(reason: "simulated")
        if before == .safe || policy.shadow { stage.note(SimulatedCallback(kind: .ineffective, name: "protect")) }
        begun = Task { [launch, stage] in stage.goOn(.init(await launch.waitUntilLaunched())) }
        try await settle()
    }

    /// Time passes: for a repair under way, for the hold, or without effect.
    private func wait(_ time: Duration) async throws {
        passed += time
        switch situation {
        case .repairing(let name):
            attemptPassed += time
            let isLate = attemptPassed >= SimulatedRepair.timeout
            if isLate {
                noteRepair(name, .timeout)
                stage.leave()
            }
            simulation.pass(time)
            if isLate { try await settle() }
        case .held, .halted:
            holdLeft -= time
            simulation.pass(time)
            if holdLeft <= .zero {
                _ = stage.takeHold()
                _ = stage.takeHalt()
                try await settle()
            }
        default:
            simulation.pass(time)
        }
    }

    // MARK: - Runs

    private func end(_ end: Report.End, _ next: SimulationWord?) async throws {
        stage.endRun()
        simulation.end(end)
        if end == .upgrade { series = [:] }
        await begun?.value
        begun = nil
        situation = nil
        // The program does not run while time passes between two runs.
        if next?.event.isWait != true { try await begin(before: next) }
    }

    private func begin(before next: SimulationWord?) async throws {
        let stop: SimulationStage.Place? =
            switch next?.event {
            case .endInTask(_, let key): .task(key)
            case .crashInReport: .report
            case .crashInProtect: .protect
            case .crashInGiveUp: .giveUp
            default: nil
            }
        if case .crashBeforeBegin = next?.event {
            situation = .beforeBegin
            return
        }
        decision = nextDecision
        nextDecision = .byRule
        stage.beginRun(stop: stop, decision: decision)
        holdLeft = Launch.Configuration().holdDeadline
        begun = Task { [launch, stage] in stage.goOn(.init(await launch.begin())) }
        try await settle()
    }

    // MARK: - Settling

    /// Wait until the launch needs the next event.
    ///
    /// - Parameter isUnderWay: whether the context already shows the effect of the last event.
    private func settle(_ isUnderWay: (LaunchInfo?) -> Bool = { _ in true }) async throws {
        let start = ContinuousClock.now
        while true {
            if stage.status == launch.status, isUnderWay(launch.info), let now = currentSituation {
                if case .repairing = now { noteAttempt() }
                situation = now
                return
            }
            // A launch without a callback reports nothing, so the simulator polls.
            guard start.duration(to: .now) < Self.patience else { throw SimulationStuck() }
            try await Task.sleep(for: .microseconds(100))
        }
    }

    /// The event for which the launch waits; nil: none yet.
    private var currentSituation: Situation? {
        switch stage.place {
        case .report: return .inReport
        case .protect: return .inProtect
        case .giveUp: return .inGiveUp
        case .task(let key): return .inTask(key)
        case .repair(let name): return .repairing(name)
        case nil: break
        }
        switch launch.status {
        case .repairing:
            return nil
        case .idle, .finished:
            return stage.outcome.map { $0 == .restart ? .restart : .finished }
        case .launching:
            return stage.outcome != nil ? .launching : waitsForKeys ? .replaying : nil
        case .awaitingRepair:
            if stage.hasHold { return .held }
            return (policy.supervised || decision == .hold) && stage.hasHalt ? .halted : nil
        }
    }

    private var waitsForKeys: Bool {
        let left = policy.tasks.filter { [.held, .running].contains(launch.state(ofTask: $0.key)) }
        return stage.wasHeld && !left.isEmpty && left.allSatisfy { $0.isByKey && launch.state(ofTask: $0.key) == .held }
    }

    private func noteAttempt() {
        guard let info = launch.info else { return }
        attemptPassed = .zero
        series[info.rung] = passed
    }

    // MARK: - The context at the end

    private func context() -> LedgerContext? {
        guard let info = launch.info else { return nil }
        let builtIn = LedgerRung(
            name: "leave out the suspect task", impact: 0, attempts: 1, isBuiltIn: true, lastSeries: series[0].map(Timestamp.init(sinceStart:)))
        let rungs = policy.repairs.enumerated().map { index, repair in
            LedgerRung(
                name: repair.name, impact: UInt32(repair.impact), attempts: UInt32(repair.attempts), timeoutMilliseconds: 30_000,
                isDestructive: repair.isDestructive, needsConsent: repair.needsConsent, needsRestart: repair.needsRestart,
                lastSeries: series[index + 1].map(Timestamp.init(sinceStart:)))
        }
        return LedgerContext(info, status: launch.status.word, ladder: [builtIn] + rungs)
    }

    /// The simulated time; 0 is the start.
    var now: Timestamp { Timestamp(sinceStart: passed) }
}

/// The outcome of a call that waits for the launch.
extension SimulationStage.Outcome {
    fileprivate init(_ outcome: Launch.Outcome) {
        self =
            switch outcome {
            case .launched: .launched
            case .restartNeeded: .restart
            default: .closed
            }
    }
}

/// The simulation went on neither by itself nor by an event: a defect of LaunchGuard.
struct SimulationStuck: Error, CustomStringConvertible {
    var description: String { "the simulation does not go on: this is a defect of LaunchGuard" }
}
