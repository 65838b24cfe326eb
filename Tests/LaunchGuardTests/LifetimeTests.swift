import Glibc
import LaunchGuard
import Testing
import TestSupport

/// After a launch, closures are freed and updates of the status end.
@Suite struct LifetimeTests {
    /// Captured by closures; known to live by its entry.
    private final class Capture: Sendable {
        let log: Log
        let name: String

        init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }

        deinit { log.add("freed \(name)") }

        func use() {}
    }

    /// A launch whose closures capture something each, and their names.
    private static func prepare(_ session: Session, _ hold: Launch.Configuration.Hold, _ log: Log) -> (Launch, [String]) {
        func closure(_ name: String) -> @Sendable () -> Void {
            let capture = Capture(name, log)
            return { capture.use() }
        }
        let event = closure("event")
        let launch = session.launch("main", .init(
            window: .zero, hold: hold,
            onDecide: { [run = closure("decide")] _ in
                run()
                return .byRule
            },
            onReport: { [run = closure("report")] _ in run() }, onGiveUp: { [run = closure("give-up")] in run() },
            onStatus: { [run = closure("status")] _ in run() }))
        launch.addRepair("mend", impact: 1) { [run = closure("repair")] in run() }
        launch.addRepair("mend", impact: 1) { [run = closure("refused repair")] in run() }
        launch.addTask("work") { [run = closure("task")] in run() } onProtect: { [run = closure("protect")] in run() } onEvent: { _ in event() }
        launch.addTask("work") { [run = closure("refused task")] in run() }
        launch.addTask("work", options: .replace) { [run = closure("replacing task")] in run() }
        launch.addTask("left out") { [run = closure("left-out task")] in run() }
        launch.leaveOut("left out")
        let names = [
            "decide", "report", "give-up", "status", "repair", "refused repair", "protect", "task", "refused task", "replacing task", "left-out task",
            "event",
        ]
        return (launch, names)
    }

    @Test(arguments: [Launch.Configuration.Hold.block, .custody, .never])
    func theClosuresOfALaunchThatIsOverAreFreed(_ hold: Launch.Configuration.Hold) async throws {
        let scene = try Scene()
        await scene.crashTwice()
        let number = Launch.Configuration.Hold.allCases.firstIndex(of: hold) ?? 0
        await #expect(processExitsWith: .success) { [directory = scene.directory as String, number = number as Int] in
            let log = Log()
            let session = try Child(directory).start()
            let (launch, names) = Self.prepare(session, Launch.Configuration.Hold.allCases[number], log)
            try await launch.begin().get()
            try await launch.waitUntilLaunched().get()
            #expect(!log.all.contains("freed decide"))
            #expect(launch.finish())
            for name in names where name != "event" { try await log.wait(for: "freed \(name)") }
            launch.addTask("late", options: .late) { [capture = Capture("late task", log)] in
                capture.use()
                log.add("late task")
            }
            try await log.wait(for: "freed late task")
            #expect(log.all.contains("late task"))
            session.stop()
            try await log.wait(for: "freed event")
        }
    }

    @Test func theTaskThatFinishesTheLaunchIsNotTheLastOne() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let log = Log()
            let launch = try Child(directory).start().launch("main", .init(window: .milliseconds(20), finish: .time))
            launch.addTask("long") {
                for await status in launch.statusUpdates where status == .normal { break }
                log.add("finished")
            }
            launch.addTask("last") { [capture = Capture("last", log)] in
                capture.use()
                log.add("last")
            }
            try await launch.begin().get()
            try await log.wait(for: "freed last")
            #expect(log.all == ["finished", "last", "freed last"])
        }
    }

    @Test func aSimulationKeepsTheClosuresUntilItIsClosed() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        launch.addTask("work") { [capture = Capture("task", log)] in
            capture.use()
            log.add("work")
        }
        for _ in 1...2 {
            try await launch.begin().get()
            launch.finish()
            simulation.end(.clean)
        }
        #expect(log.take() == ["work", "work"])
        simulation.close()
        try await log.wait(for: "freed task")
    }

    /// Ways out of a launch that nobody finishes.
    enum Outcome: Int, CaseIterable, Sendable { 
        case restart, announced, stopped, stoppedInTask, failed, failedInCustody, cancelled
    }

    @Test(arguments: Outcome.allCases)
    func updatesOfTheStatusEndInEveryOutcome(_ outcome: Outcome) async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String, number = outcome.rawValue as Int] in
            let outcome = Outcome(rawValue: number)
            let log = Log()
            let session = try Child(directory).start()
            let launch = session.launch("main", .init(window: .zero, hold: outcome == .failedInCustody ? .custody : .block, cancellation: .forwarded))
            launch.addRepair("mend", impact: 1, options: outcome == .restart ? .needsRestart : []) {}
            launch.addTask("work", options: .essential) { [capture = Capture("task", log)] in
                capture.use()
                if outcome == .failed || outcome == .failedInCustody { throw Failure(description: "no disk") }
                if outcome == .cancelled { try await stayUntilCancelled() }
                if outcome == .announced { session.announceTermination() }
                if outcome == .stoppedInTask { session.stop() }
            }
            let updates = launch.statusUpdates
            let listener = Task { await updates.reduce(into: []) { $0.append($1) } }
            let caller = Task { do throws(LaunchGuardError) { try await launch.begin().get() } catch { log.add(error.code.description) } }
            if outcome == .cancelled {
                try await waitUntil("the task runs") { launch.state(ofTask: "work") == .running }
                caller.cancel()
            }
            await caller.value
            if outcome == .stopped { session.stop() }
            _ = await listener.value
            #expect(log.all.contains("restart") == (outcome == .restart))
            try await log.wait(for: "freed task")
        }
    }
}
