import Glibc
import LaunchGuard
import Testing
import TestSupport

/// A launch that is held, and the calls of its user.
@Suite(.timeLimit(.minutes(10))) struct HoldTests {
    /// A launch whose next begin needs a repair.
    private static func launch(
        _ configuration: Launch.Configuration, _ prepare: (Launch) -> Void
    ) async throws -> (Simulation, Launch) {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", configuration.with(reportAfter: 9, repairAfter: 1, window: .zero))
        prepare(launch)
        try await launch.begin().get()
        simulation.end(.crash)
        return (simulation, launch)
    }

    /// The answer of a user.
    enum Answer: CaseIterable { case yes, otherOne, notNow, nothing }

    @Test(arguments: Answer.allCases)
    func theUpdatesDriveAQuestionToTheUser(_ answer: Answer) async throws {
        let log = Log()
        let deadline: Duration = answer == .nothing ? .milliseconds(50) : .seconds(60)
        let ask: @Sendable (consuming Launch.Hold) async throws -> Void = { @MainActor hold in
            log.add("\(hold.reason.repair ?? "-")?")
            switch answer {
            case .yes: hold.repair()
            case .otherOne: hold.refuse()
            case .notNow: hold.skip()
            case .nothing: break
            }
        }
        let (_, launch) = try await Self.launch(.init(hold: .custody, holdDeadline: deadline, onHold: ask)) { launch in
            launch.addRepair("erase", impact: 10, options: [.consent, .destructive]) { log.add("erase") }
            launch.addRepair("rebuild", impact: 20) { log.add("rebuild") }
            launch.addTask("open") { log.add("open in \(launch.mode)") }
        }
        _ = log.take()
        let screen = Task { @MainActor in
            for await status in launch.statusUpdates { log.add("\(status)") }
        }
        try await log.wait(for: "idle")
        try await launch.begin().get()
        try await launch.waitUntilLaunched().get()
        #expect(launch.finish())
        await screen.value
        let expected = switch answer {
        case .yes: ["idle", "erase?", "erase", "open in probation", "finished"]
        case .otherOne: ["idle", "erase?", "rebuild", "open in probation", "finished"]
        case .notNow: ["idle", "erase?", "open in normal", "finished"]
        case .nothing: ["idle", "erase?", "open in safe", "finished"]
        }
        let changes = [Launch.Status.awaitingRepair, .repairing, .launching].map { "\($0)" }
        #expect(log.take().filter { !changes.contains($0) } == expected)
    }

    @Test func withCustodyBeginReturnsAtOnceAndTheTasksWait() async throws {
        let log = Log()
        let holds = Holds()
        let (_, launch) = try await Self.launch(.init(hold: .custody, repairsAutomatically: false, onHold: { holds.keep($0) })) { launch in
            launch.addRepair("mend", impact: 1) { log.add("mend") }
            launch.addTask("first") { log.add("first") }
            launch.addTask("first") { log.add("refused") }
            launch.addTask("second") { log.add("second") }
        }
        #expect(log.take() == ["first", "second", "refused"])
        try await launch.begin().get()
        #expect(launch.status == .awaitingRepair)
        #expect(launch.state(ofTask: "first") == .held)
        #expect(launch.state(ofTask: "nobody") == nil)
        #expect(!launch.finish())
        let late = await #expect(throws: LaunchGuardError.self) { try await launch.waitUntilLaunched(timeout: .milliseconds(20)).get() }
        #expect(late?.code == .timeout)
        let waiter = Task { try await launch.waitUntilLaunched().get() }
        waiter.cancel()
        let cancelled = await #expect(throws: LaunchGuardError.self) { try await waiter.value }
        #expect(cancelled?.code == .cancelled)
        #expect(log.take() == [])
        let hold = try await holds.next()
        let isRepaired = hold.repair()
        #expect(isRepaired)
        try await launch.waitUntilLaunched().get()
        try await log.wait(for: "refused")
        #expect(log.take() == ["mend", "first", "second", "refused"])
        #expect(launch.state(ofTask: "first") == .done)
        #expect(launch.finish())
    }

    @Test func withoutAHoldTheRepairRunsBesideTheTasks() async throws {
        let log = Log()
        let (_, launch) = try await Self.launch(.init(hold: .never)) { launch in
            launch.addRepair("mend", impact: 1) {
                try await log.wait(for: "work")
                log.add("mend")
            }
            launch.addTask("work") { log.add("work") }
        }
        _ = log.take()
        var updates = launch.statusUpdates.makeAsyncIterator()
        try await launch.begin().get()
        while await updates.next() != .launching {}
        #expect(log.take() == ["work", "mend"])
        #expect(launch.finish())
    }

    @Test func aRepairThatAsksForARestartEndsTheLaunch() async throws {
        let log = Log()
        let (simulation, launch) = try await Self.launch(.init()) { launch in
            launch.addRepair("replace the library", impact: 1, options: .needsRestart) { log.add("replace") }
            launch.addTask("work") { log.add("work") }
        }
        _ = log.take()
        let error = await #expect(throws: LaunchGuardError.self) { try await launch.begin().get() }
        #expect(error?.code == .restart)
        #expect(error?.message.contains("restart") == true)
        #expect(log.take() == ["replace"])
        #expect(launch.status == .finished)
        simulation.end(.clean)
        try await launch.begin().get()
        #expect(launch.mode == .probation)
        #expect(log.take() == ["work"])
    }

    @Test func protectHoldsRepairsAndGoesOn() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        launch.addRepair("mend", impact: 1) { log.add("mend \(launch.status)") }
        launch.addTask("index") {
            log.add("index")
            #expect(launch.protect(reason: "the index is damaged"))
            log.add("index goes on")
        } onProtect: { log.add("never: it has run") }
        launch.addTask("window") { log.add("window") } onProtect: { @MainActor in log.add("notice") }
        var updates = launch.statusUpdates.makeAsyncIterator()
        try await launch.begin().get()
        #expect(log.take() == ["index", "index goes on", "notice", "mend repairing", "window"])
        launch.finish()
        #expect(!launch.protect())
        var seen: [Launch.Status] = []
        while let status = await updates.next() { seen.append(status) }
        #expect(seen == [.idle, .launching, .awaitingRepair, .repairing, .launching, .finished])
    }

    @Test func protectAfterTheTasksRepairsOnItsOwn() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        launch.addTask("work") { log.add("work") }
        try await launch.begin().get()
        #expect(launch.protect(reason: nil))
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["work", "mend"])
        #expect(launch.mode == .probation)
        #expect(launch.finish())
    }

    @Test func protectWaitsForConsent() async throws {
        let log = Log()
        let simulation = try Simulation(), holds = Holds()
        let launch = simulation.session.launch("main", .init(window: .zero, onHold: { holds.keep($0) }))
        launch.addRepair("mend", impact: 1, options: .consent) { log.add("mend") }
        launch.addTask("work") { log.add("work") }
        try await launch.begin().get()
        #expect(holds.reasons == [])
        launch.protect(reason: "too hot")
        #expect(launch.status == .awaitingRepair)
        let hold = try await holds.next()
        #expect(hold.reason == .init(kind: .protected, repair: "mend", text: "too hot"))
        passTime(.milliseconds(50), why: "the repair does not run by itself")
        #expect(log.take() == ["work"])
        hold.repair()
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["mend"])
    }

    @Test func anAnnouncedEndEndsTheHold() async throws {
        let log = Log()
        let holds = Holds()
        let (simulation, launch) = try await Self.launch(.init(repairsAutomatically: false, onHold: { holds.keep($0) })) { launch in
            launch.addRepair("mend", impact: 1) { log.add("mend") }
            launch.addTask("work") { log.add("work") }
        }
        _ = log.take()
        let screen = Task {
            let hold = try await holds.next()
            simulation.session.announceTermination()
            let isRepaired = hold.repair()
            #expect(!isRepaired)
        }
        let error = await #expect(throws: LaunchGuardError.self) { try await launch.begin().get() }
        #expect(error?.code == .interrupted)
        try await screen.value
        #expect(log.take() == [])
        simulation.end(.clean)
        #expect(launch.info?.streak == 1)
    }

    @Test func aRealLaunchWaitsForConsent() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { @MainActor [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(window: .zero, hold: .custody, onHold: { @MainActor hold in
                child.note("asked")
                hold.repair()
            }))
            launch.addRepair("restore backup", impact: 50, options: [.consent, .destructive]) { @MainActor in child.note("restore") }
            launch.addTask("open") { @MainActor in child.note("open") } onProtect: { @MainActor in child.note("notice") }
            try await launch.begin().get()
            child.note("begun")
            try await waitUntil("the notice is shown") { child.hasNote("notice") }
            for await status in launch.statusUpdates {
                if status == .launching { launch.finish() }
            }
            try await launch.waitUntilLaunched().get()
            #expect(launch.info?.streak == 0)
        }
        #expect(scene.journal.filter { $0 != "begun" } == ["notice", "asked", "restore", "open"])
    }

    @Test func inShadowNothingIsHeld() async throws {
        let log = Log()
        let holds = Holds()
        let (simulation, launch) = try await Self.launch(.init(repairsAutomatically: false, isShadow: true, onHold: { holds.keep($0) })) { launch in
            launch.addRepair("mend", impact: 1) { log.add("mend") }
            launch.addTask("work") { log.add("work") }
        }
        #expect(launch.streak == 1)
        try await launch.begin().get()
        #expect(launch.status == .launching)
        #expect(launch.info?.isShadow == true && holds.reasons == [])
        #expect(log.take() == ["work", "work"])
        simulation.end(.crash)
        #expect(launch.streak == 2)
    }
}
