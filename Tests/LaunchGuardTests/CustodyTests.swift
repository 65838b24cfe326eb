import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing

/// Tasks: kinds, builder, replay, events.
@Suite(.timeLimit(.minutes(10))) struct CustodyTests {
    private static func simulated(
        _ configuration: Launch.Configuration = Launch.Configuration()
    ) throws -> (Simulation, Launch) {
        let simulation = try Simulation()
        return (simulation, simulation.session.launch("main", configuration.with(reportAfter: 9, repairAfter: 1, window: .zero)))
    }

    @Test func tasksRunInTheOrderOfTheirRegistration() async throws {
        let log = Log()
        let (_, launch) = try Self.simulated()
        launch.addTask("first", options: .essential) {
            log.add("first")
        } onProtect: {
            log.add("protect")
        } onEvent: {
            log.add($0)
        }
        launch.addTask("plugins", options: [.unsafe, .suspect]) { log.add("plugins") }
        for number in 3...4 { launch.addTask("number \(number)") { log.add("\(number)") } }
        #expect(launch.problem == nil)
        try await launch.begin().get()
        #expect(log.take() == ["first", "plugins", "3", "4"])
        #expect(await launch.signal("became-active", to: "first"))
        #expect(log.take() == ["became-active"])
    }

    @Test func whenAnEssentialTaskFailsTheRestIsNotRun() async throws {
        let log = Log()
        let (_, launch) = try Self.simulated()
        launch.addTask("light") { throw Failure(description: "no matter") }
        launch.addTask("database", options: .essential) { throw Failure(description: "no disk") }
        launch.addTask("window") { log.add("window") }
        let error = await #expect(throws: LaunchGuardError.self) { try await launch.begin().get() }
        #expect(error?.code == .failed)
        #expect(error?.message == "task \"database\" failed: no disk")
        #expect(log.all == [])
        #expect(launch.state(ofTask: "light") == .failed)
        #expect(launch.state(ofTask: "database") == .failed)
        #expect(launch.state(ofTask: "window") == .leftOut)
        let again = await #expect(throws: LaunchGuardError.self) { try await launch.waitUntilLaunched().get() }
        #expect(again?.code == .failed)
    }

    @Test func flagsThatContradictEachOtherAreAProblemAndTheTaskRuns() async throws {
        let log = Log()
        let (_, launch) = try Self.simulated()
        launch.addTask("both", options: [.essential, .unsafe]) { log.add("both") }
        #expect(launch.problem?.code == .option)
        try await launch.begin().get()
        #expect(log.all == ["both"])
    }

    @Test func aTaskIsReplacedAndATaskAddsAnother() async throws {
        let log = Log()
        let (_, launch) = try Self.simulated()
        launch.addTask("work") { log.add("old") }
        launch.addTask("more") {
            log.add("more")
            launch.addTask("late") { log.add("late") }
            launch.addTask("more", options: .replace) { log.add("too late") }
        }
        launch.addTask("work", options: .replace) { log.add("new") }
        #expect(launch.problem == nil)
        try await launch.begin().get()
        #expect(log.take() == ["new", "more", "late"])
        #expect(launch.problem?.code == .state)
        launch.addTask("after all") { log.add("after all") }
        #expect(log.all == [])
    }

    @Test func theProgramLeavesOutTasksByTheirKeys() async throws {
        let log = Log()
        let (simulation, launch) = try Self.simulated()
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        #expect(launch.leaveOut("plugins"))
        launch.addTask("database", options: .essential) { log.add("database") } onProtect: { log.add("never") }
        launch.addTask("window") { log.add("window") } onProtect: { log.add("protect") }
        launch.addTask("plugins") { log.add("plugins") } onProtect: { log.add("never") }
        #expect(launch.leaveOut("database"))
        #expect(!launch.leaveOut(""))
        #expect(!launch.leaveOut("a\0b"))
        try await launch.begin().get()
        #expect(log.take() == ["window"])
        #expect(launch.state(ofTask: "database") == .leftOut)
        #expect(launch.state(ofTask: "plugins") == .leftOut)
        #expect(!launch.leaveOut("window"))
        simulation.end(.crash)
        try await launch.begin().get()
        #expect(log.take() == ["protect", "mend", "window"])
    }

    @Test func aTaskThatIsAddedWhileTheLaunchIsHeldIsProtectedAtOnce() async throws {
        let log = Log()
        let holds = Holds()
        let (simulation, launch) = try Self.simulated(.init(hold: .custody, repairsAutomatically: false, onHold: { holds.keep($0) }))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        launch.addTask("a") { log.add("a") } onProtect: { log.add("protect a") }
        try await launch.begin().get()
        simulation.end(.crash)
        _ = log.take()
        try await launch.begin().get()
        try await log.wait(for: "protect a")
        launch.addTask("b") { log.add("b") } onProtect: { log.add("protect b") }
        try await log.wait(for: "protect b")
        try await holds.next().repair()
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["protect a", "protect b", "mend", "a", "b"])
    }

    @Test func replayByKeyRunsTheTasksInTheOrderOfTheCalls() async throws {
        let log = Log()
        let (simulation, launch) = try Self.simulated(.init(hold: .custody))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        for key in ["a", "b", "c", "d"] { launch.addTask(key) { log.add(key) } }
        #expect(launch.replayByKey())
        #expect(!launch.replay("a"))
        // A launch that is not held runs all tasks in order.
        try await launch.begin().get()
        #expect(!launch.replayByKey())
        #expect(log.take() == ["a", "b", "c", "d"])
        simulation.end(.crash)

        try await launch.begin().get()
        var updates = launch.statusUpdates.makeAsyncIterator()
        while await updates.next() != .launching {}
        #expect(log.take() == ["mend"])
        #expect(launch.replay("c"))
        try await log.wait(for: "c")
        #expect(launch.state(ofTask: "c") == .done)
        #expect(launch.state(ofTask: "b") == .held)
        #expect(!launch.replay("nobody"))
        #expect(launch.replay("b"))
        try await log.wait(for: "b")
        #expect(launch.replay())
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["c", "b", "a", "d"])
    }

    @Test func someTasksRunByThemselvesAndOthersByKey() async throws {
        let log = Log()
        let (simulation, launch) = try Self.simulated(.init(hold: .custody))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        launch.addTask("a", options: .replayByKey) { log.add("a") }
        launch.addTask("b") { log.add("b") }
        launch.addTask("c", options: .replayByKey) { log.add("c") }
        launch.addTask("d") { log.add("d") }
        try await launch.begin().get()
        #expect(log.take() == ["a", "b", "c", "d"])
        simulation.end(.crash)
        try await launch.begin().get()
        try await log.wait(for: "d")
        #expect(log.take() == ["mend", "b", "d"])
        #expect(!launch.replay("b"))
        #expect(launch.replay("c"))
        #expect(launch.replay("a"))
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["c", "a"])
    }

    @Test func aMarkCountsWhenTheTasksHaveRun() async throws {
        let log = Log()
        let (simulation, launch) = try Self.simulated()
        launch.addTask("a") { log.add("\(launch.finish()) \(launch.status)") }
        launch.addTask("b") { log.add("b \(launch.status)") }
        try await launch.begin().get()
        #expect(log.take() == ["true launching", "b launching"])
        #expect(launch.status == .finished)
        simulation.end(.crash)
        #expect(launch.streak == 0)
    }

    @Test func aLateTaskRunsAtOnce() async throws {
        let log = Log()
        let holds = Holds()
        let (_, launch) = try Self.simulated(.init(hold: .custody, repairsAutomatically: false, onHold: { holds.keep($0) }))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        launch.addTask("a", options: .late) { log.add("a") }
        try await launch.begin().get()
        launch.addTask("b", options: .late) { @MainActor in log.add("b") }
        try await log.wait(for: "b")
        #expect(launch.problem == nil)
        #expect(launch.protect(reason: "too hot"))
        launch.addTask("c", options: .late) { log.add("c") } onProtect: { log.add("protect c") }
        try await log.wait(for: "protect c")
        try await holds.next().repair()
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["a", "b", "protect c", "mend", "c"])
        launch.addTask("c", options: [.late, .replace]) { log.add("never") }
        launch.addTask("d") { log.add("never") }
        #expect(launch.problem?.code == .state)
    }

    @Test func tasksThatAreNotReplayedInTimeRunByThemselves() async throws {
        let log = Log()
        let (simulation, launch) = try Self.simulated(.init(holdDeadline: .milliseconds(50)))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        launch.addTask("work") { log.add("work") }
        launch.replayByKey()
        try await launch.begin().get()
        simulation.end(.crash)
        _ = log.take()
        try await launch.begin().get()
        #expect(log.take() == ["mend", "work"])
    }

    @Test func eventsReachTheTasksThatHaveRun() async throws {
        let log = Log()
        let (_, launch) = try Self.simulated()
        launch.addTask("window") {
            log.add("window")
            // The tasks have not run yet: they get the last event afterwards.
            await launch.signal("first")
            await launch.signal("became-active")
        } onEvent: { @MainActor event in log.add("window \(event)") }
        launch.addTask("bad") { throw Failure(description: "no") } onEvent: { event in log.add("never") }
        launch.addTask("sound") { log.add("sound") } onEvent: { event in
            log.add("sound \(event)")
            throw Failure(description: "logged")
        }
        try await launch.begin().get()
        #expect(log.take() == ["window", "window became-active", "sound", "sound became-active"])
        #expect(await launch.signal("entered-background"))
        #expect(log.take() == ["window entered-background", "sound entered-background"])
        #expect(await launch.signal("x", to: "sound"))
        #expect(log.take() == ["sound x"])
        #expect(await !launch.signal("x", to: "nobody"))
        #expect(await !launch.signal(""))
        #expect(await !launch.signal("a\0b"))
        #expect(await !launch.signal(String(repeating: "e", count: 64)))
        #expect(log.take() == [])
    }

    @Test func theTaskThatCrashedIsKnownAtTheNextStartAndThenLeftOut() async throws {
        let scene = try Scene()
        for streak in 0...1 {
            await #expect(processExitsWith: .signal(SIGSEGV)) { [streak = streak as Int, directory = scene.directory as String] in
                let child = Child(directory)
                let session = try child.start()
                let launch = session.launch("main", .init(reportAfter: 1, onReport: { batch in
                    child.note("report \(batch.streak) \(session.launch("main").info?.lastTask ?? "-")")
                }))
                launch.addTask("open database") { child.note("database") }
                launch.addTask("open plugins") { Child.fault() }
                #expect(launch.info?.lastTask == (streak == 0 ? nil : "open plugins"))
                try await launch.begin().get()
            }
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            let launch = session.launch("main", .init(reportAfter: 1, onReport: { batch in
                child.note("report \(batch.streak) \(session.launch("main").info?.lastTask ?? "-")")
            }))
            launch.addTask("open database") { child.note("database") }
            launch.addTask("open plugins") { child.note("plugins") }
            try await launch.begin().get()
            #expect(launch.state(ofTask: "open plugins") == .leftOut)
            #expect(launch.mode == .probation)
        }
        #expect(scene.journal == ["database", "report 1 open plugins", "database", "report 2 open plugins", "database"])
    }

    /// Two launches are under way, and one task crashes: on its own thread, so that the crash
    /// belongs to one launch.
    @Test func aCrashInATaskCountsForItsLaunchOnly() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            try await session.launch("innocent", .init(window: .zero)).begin().get()
            let guilty = session.launch("guilty", .init(window: .zero))
            guilty.addTask("crash") {
                await Task.yield()
                Child.fault()
            }
            try await guilty.begin().get()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.launch("guilty").streak == 1)
            #expect(session.launch("innocent").streak == 0)
        }
    }
}
