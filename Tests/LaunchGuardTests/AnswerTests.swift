import LaunchGuard
import Testing
import TestSupport

/// A hold, its reason, and answers that come in time, late, twice or never.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
    /// A launch that crashed once, with two repairs that need consent.
    private static func crashed(
        _ holds: Holds, _ log: Log, _ configuration: Launch.Configuration = .init(hold: .custody), repairs: [String] = ["small", "large"]
    ) async throws -> (Simulation, Launch) {
        let simulation = try Simulation()
        var configuration = configuration.with(reportAfter: 9, repairAfter: 1, window: .zero)
        configuration.onHold = { holds.keep($0) }
        let launch = simulation.session.launch("main", configuration)
        for (impact, name) in repairs.enumerated() {
            launch.addRepair(name, impact: impact, options: .consent) { log.add(name) }
        }
        launch.addTask("work") { log.add("work in \(launch.mode)") }
        try await launch.begin().get()
        simulation.end(.crash)
        _ = log.take()
        try await launch.begin().get()
        return (simulation, launch)
    }

    @Test func eachWaitIsOneHoldWithItsReason() async throws {
        let holds = Holds(), log = Log()
        let (_, launch) = try await Self.crashed(holds, log)
        try await holds.next().refuse()
        let second = try await holds.next()
        #expect(second.reason == .init(kind: .consent, repair: "large"))
        second.repair()
        try await launch.waitUntilLaunched().get()
        #expect(holds.reasons == [.init(kind: .consent, repair: "small"), .init(kind: .consent, repair: "large")])
        #expect(log.take() == ["large", "work in probation"])
    }

    @Test func aLaunchThatRepairsByItselfAsksNothing() async throws {
        let holds = Holds(), log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero, onHold: { holds.keep($0) }))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        try await launch.begin().get()
        simulation.end(.crash)
        try await launch.begin().get()
        #expect(log.all == ["mend"] && holds.reasons == [])
    }

    /// The end of a hold without an answer.
    enum Staleness: CaseIterable { case deadline, endOfRun }

    @Test(arguments: Staleness.allCases)
    func aStaleHoldHasNoEffectOnALaterOne(_ staleness: Staleness) async throws {
        let holds = Holds(), log = Log()
        let (simulation, launch) = try await Self.crashed(holds, log)
        let stale = try await holds.next()
        if staleness == .deadline {
            simulation.pass(.seconds(120))
            try await launch.waitUntilLaunched().get()
            #expect(log.take() == ["work in safe"])
        }
        simulation.end(staleness == .deadline ? .crash : .clean)
        // Two crashes in safe mode offer the ladder again.
        try await launch.begin().get()
        if staleness == .deadline {
            simulation.end(.crash)
            try await launch.begin().get()
        }
        let fresh = try await holds.next()
        let isSkipped = stale.skip()
        #expect(!isSkipped && launch.status == .awaitingRepair)
        let isRepaired = fresh.repair()
        #expect(isRepaired)
        try await launch.waitUntilLaunched().get()
        #expect(log.all.suffix(2) == ["small", "work in probation"])
    }

    @Test func aHoldThatIsDroppedLeavesItToTheDeadline() async throws {
        let holds = Holds(), log = Log()
        let (simulation, launch) = try await Self.crashed(holds, log)
        do { _ = try await holds.next() }
        #expect(launch.status == .awaitingRepair)
        simulation.pass(.seconds(60)) // plain time counts as well
        #expect(launch.status == .awaitingRepair)
        simulation.pass(.seconds(60))
        try await launch.waitUntilLaunched().get()
        #expect(log.take() == ["work in safe"] && holds.reasons.count == 1)
    }

    @Test func ofManyAnswersOneApplies() async throws {
        for _ in 1...20 {
            let holds = Holds(), log = Log()
            let (simulation, launch) = try await Self.crashed(holds, log)
            let hold = try await holds.next()
            async let end: Void = { _ = simulation.end(.clean) }()
            let isApplied = hold.repair()
            await end
            let outcome = await launch.waitUntilLaunched()
            if isApplied, case .launched = outcome { #expect(log.all.first == "small") }
            simulation.close()
        }
    }

    @Test func aProgramThatRepairsItselfIsHeldForIt() async throws {
        let holds = Holds(), log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero, onHold: { holds.keep($0) }))
        launch.addTask("notes") {} onProtect: { log.add("screen") }
        #expect(launch.protect(reason: String(repeating: "é", count: 200)))
        async let begun = launch.begin()
        let hold = try await holds.next()
        #expect(hold.reason == .init(kind: .protected, text: String(repeating: "é", count: 127)))
        #expect(log.all == ["screen"])
        hold.repaired()
        #expect(await begun.problem == nil)
        #expect(launch.mode == .probation)
    }

    @Test func aHoldMayBeAnsweredWhileItsClosureRuns() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero, repairsAutomatically: false, onHold: { hold in
            log.add("asked")
            hold.repair()
            try await log.wait(for: "done")
            log.add("over")
        }))
        launch.addRepair("mend", impact: 1) { log.add("mend") }
        launch.addTask("work") { log.add("work") }
        try await launch.begin().get()
        simulation.end(.crash)
        _ = log.take()
        try await launch.begin().get()
        #expect(log.all == ["asked", "mend", "work"])
        log.add("done")
        try await log.wait(for: "over")
    }
}
