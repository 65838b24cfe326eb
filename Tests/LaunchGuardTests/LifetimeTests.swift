import Glibc
import LaunchGuard
import Testing
import TestSupport

/// After a launch, closures are freed and updates of the status end.
@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
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
            onReport: { [run = closure("report")] _ in run() }, onHold: { [run = closure("hold")] _ in run() },
            onGiveUp: { [run = closure("give-up")] _ in run() },
            onStatus: { [run = closure("status")] _ in run() }))
        launch.addRepair("mend", impact: 1) { [run = closure("repair")] in run() }
        launch.addRepair("mend", impact: 1) { [run = closure("refused repair")] in run() }
        launch.addTask("work") { [run = closure("task")] in run() } onProtect: { [run = closure("protect")] in run() } onEvent: { _ in event() }
        launch.addTask("work") { [run = closure("refused task")] in run() }
        launch.addTask("work", options: .replace) { [run = closure("replacing task")] in run() }
        launch.addTask("left out") { [run = closure("left-out task")] in run() }
        launch.leaveOut("left out")
        let names = [
            "decide", "report", "hold", "give-up", "status", "repair", "refused repair", "protect", "task", "refused task", "replacing task", "left-out task",
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
                for await status in launch.statusUpdates where status == .finished { break }
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

    /// Ways out of a launch.
    enum Way: Int, CaseIterable, Sendable {
        case finished, finishedByTime, restart, announced, announcedInHold, announcedBeforeBegin, stopped, stoppedInTask, stoppedInHold, failed
        case failedInCustody, cancelled, cancelledBeforeBegin, begunTwice, unprotected, unprotectedByMistake, neverBegun, neverBegunByMistake

        var configuration: Launch.Configuration {
            .init(
                window: self == .finishedByTime ? .milliseconds(20) : .zero,
                hold: [.failedInCustody, .announcedInHold, .stoppedInHold].contains(self) ? .custody : .block,
                repairsAutomatically: ![.announcedInHold, .stoppedInHold].contains(self), cancellation: .forwarded,
                killSwitch: self == .unprotected ? "PATH" : nil, modules: self == .unprotectedByMistake ? [""] : [])
        }

        var last: Launch.Status {
            switch self {
            case .failed, .failedInCustody, .cancelled: .launching
            case .cancelledBeforeBegin, .neverBegun, .neverBegunByMistake: .idle
            default: .finished
            }
        }
    }

    /// Updates of the status end in every way, and their last element is the last status.
    @Test(arguments: Way.allCases)
    func updatesOfTheStatusEndInEveryWay(_ way: Way) async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String, number = way.rawValue as Int] in
            let way = Way(rawValue: number)!, child = Child(directory, seconds: 60)
            let log = Log()
            let session = try child.start()
            if way == .neverBegunByMistake { _ = session.launch("main") }
            let launch = session.launch("main", way == .neverBegunByMistake ? .init(onStatus: { _ in }) : way.configuration)
            launch.addRepair("mend", impact: 1, options: way == .restart ? .needsRestart : []) {}
            launch.addTask("work", options: .essential) { [capture = Capture("task", log)] in
                capture.use()
                if way == .failed || way == .failedInCustody { throw Failure(description: "no disk") }
                if way == .cancelled { try await stayUntilCancelled() }
                if way == .announced { session.announceTermination() }
                if way == .stoppedInTask { session.stop() }
            }
            let listener = Task {
                var seen: [Launch.Status] = []
                for await status in launch.statusUpdates {
                    seen.append(status)
                    log.add("\(status)")
                }
                return seen
            }
            try await log.wait(for: "idle")
            if way == .announcedBeforeBegin { session.announceTermination() }
            let caller = Task {
                if way == .cancelledBeforeBegin { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                if ![.neverBegun, .neverBegunByMistake].contains(way) { log.add("\(await launch.begin().problem?.code.description ?? "ok")") }
            }
            if way == .cancelled {
                try await waitUntil("the task runs") { launch.state(ofTask: "work") == .running }
                caller.cancel()
            }
            await caller.value
            switch way {
            case .finished, .unprotected, .unprotectedByMistake: launch.finish()
            case .begunTwice:
                #expect(await launch.begin().problem?.code == .state)
                launch.finish()
            case .stopped, .neverBegun, .neverBegunByMistake: session.stop()
            case .announcedInHold, .stoppedInHold:
                try await waitUntil("it is held") { launch.status == .awaitingRepair }
                if way == .stoppedInHold { session.stop() } else { session.announceTermination() }
            default: break
            }
            let seen = await listener.value
            #expect(seen.last == way.last && seen.last == launch.status, "\(seen), and it is \(launch.status)")
            #expect(seen.count < 2 || seen.dropFirst().allSatisfy { $0 != .idle })
            if way != .cancelledBeforeBegin { #expect(await launch.statusUpdates.reduce(into: []) { $0.append($1) } == [way.last]) }
            #expect(log.all.contains("restart") == (way == .restart))
            if way.last != .idle { try await log.wait(for: "freed task") }
        }
    }

    /// A call that begins nothing ends the updates, and the next one has updates again.
    @Test func aLaunchThatWasNotBegunHasUpdatesWhenItIs() async throws {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero, cancellation: .forwarded))
        var updates = launch.statusUpdates.makeAsyncIterator()
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await launch.begin().problem?.code
        }
        #expect(await caller.value == .cancelled)
        #expect(await updates.next() == .idle)
        #expect(await updates.next() == nil)
        #expect(try await Child.statuses(of: launch) == [.idle, .launching, .finished])
    }
}
