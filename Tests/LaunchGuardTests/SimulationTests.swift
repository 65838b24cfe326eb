import LaunchGuard
import Testing
import TestSupport

/// Launches walked through every state, in this process and without a crash.
@Suite(.timeLimit(.minutes(10))) struct SimulationTests {
    /// A program's own function, as with a real session. It notes every call.
    private static func prepare(
        _ session: Session, _ log: Log, configuration: Launch.Configuration = Launch.Configuration(), mends: Bool = true
    ) -> Launch {
        var configuration = configuration.with(reportAfter: 1, repairAfter: 2, window: .zero)
        configuration.onReport = { log.add("report \($0.streak)") }
        if configuration.onGiveUp == nil { configuration.onGiveUp = { _ in log.add("give up") } }
        let launch = session.launch("main", configuration)
        launch.addRepair("mend", impact: 10, attempts: 1) {
            log.add("repair")
            if !mends { throw Failure(description: "cannot be mended") }
        }
        launch.addTask("open") { log.add("open") }
        launch.addTask("plugins", options: .unsafe) { log.add("plugins") }
        return launch
    }

    @Test func everyStateIsReachedInOneWalk() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = Self.prepare(simulation.session, log)
        #expect(launch.problem == nil)
        #expect(simulation.session.protection == .full)

        try await launch.begin().get()
        #expect(log.take() == ["open", "plugins"])
        #expect(launch.status == .launching)
        #expect(simulation.end(.crash))
        #expect(launch.status == .idle)
        #expect(launch.streak == 1)

        try await launch.begin().get()
        #expect(log.take() == ["report 1", "open", "plugins"])
        simulation.end(.crash)

        try await launch.begin().get()
        #expect(log.take() == ["report 2", "repair", "open", "plugins"])
        #expect(launch.mode == .probation)
        // The repair did not help, and no other is left.
        simulation.end(.crash)
        try await launch.begin().get()
        #expect(log.take() == ["report 1", "open"])
        #expect(launch.mode == .safe)
        simulation.end(.crash)
        try await launch.begin().get()
        simulation.end(.crash)
        #expect(log.take() == ["report 2", "open"])

        #expect(launch.info?.safeCrashes == 2)
        try await launch.begin().get()
        #expect(log.take() == ["report 3", "give up", "open"])
        #expect(launch.mode == .safe)
        #expect(launch.finish())
        simulation.end(.clean)
        try await launch.begin().get()
        #expect(log.take() == ["open"])
        launch.finish()
        simulation.end(.clean)

        try await launch.begin().get()
        #expect(launch.mode == .trial)
        #expect(log.take() == ["open", "plugins"])
        launch.finish()
        #expect(launch.mode == .normal)
        let info = try #require(launch.info)
        #expect(info.streak == 0)
        #expect(info.rung == 0)
        #expect(info.crashes == 5)
        #expect(info.repairs == 1)
        #expect(info.launches == 8)
        simulation.close()
    }

    @Test func aSupervisedLaunchStaysHaltedUntilATry() async throws {
        let log = Log()
        let simulation = try Simulation()
        let halts = Halts(), holds = Holds()
        let configuration = Launch.Configuration(
            safeMode: .init(crashLimit: 1), isSupervised: true, onHold: { holds.keep($0) },
            onGiveUp: { halt in
                log.add("give up")
                halts.keep(halt)
            })
        let launch = Self.prepare(simulation.session, log, configuration: configuration, mends: false)
        for _ in 1...3 {
            try await launch.begin().get()
            simulation.end(.crash)
        }
        _ = log.take()
        var updates = launch.statusUpdates.makeAsyncIterator()
        async let begun = launch.begin()
        while await updates.next() != .awaitingRepair {}
        let halt = try await halts.next()
        #expect(launch.info?.isHalted == true && holds.reasons == [])
        let isTried = halt.trySafeMode()
        #expect(isTried)
        try await begun.get()
        #expect(log.take() == ["report 3", "give up", "open"])
        #expect(launch.status == .launching)
    }

    @Test func aThrottledRepairIsPassedOverUntilItsTimeHasPassed() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero))
        launch.addRepair("erase", impact: 10, attempts: 1, options: .destructive) { log.add("erase") }
        func crash() async throws {
            try await launch.begin().get()
            simulation.end(.crash)
        }
        try await crash()
        try await launch.begin().get()
        launch.finish()
        simulation.end(.clean)
        #expect(log.take() == ["erase"])
        try await crash()
        try await launch.begin().get()
        #expect(log.take() == [])
        #expect(launch.mode == .safe)
        for _ in 1...3 {
            launch.finish()
            simulation.end(.clean)
            try await launch.begin().get()
        }
        launch.finish()
        #expect(launch.mode == .normal)
        simulation.end(.clean)
        #expect(simulation.pass(.seconds(25 * 3600)))
        #expect(!simulation.pass(.seconds(-1)))
        try await crash()
        try await launch.begin().get()
        #expect(log.take() == ["erase"])
    }

    @Test(arguments: Report.End.allCases)
    func everyEndButRunningCanBeSimulated(_ end: Report.End) async throws {
        let simulation = try Simulation()
        let launch = Self.prepare(simulation.session, Log(), configuration: .init(count: [.crash, .hang, .oom, .exit]))
        try await launch.begin().get()
        #expect(simulation.end(end) == (end != .running))
        #expect(launch.streak == ([.crash, .hang, .oom, .exit].contains(end) ? 1 : 0))
        #expect(launch.info?.unknown == ([.unknown, .killed].contains(end) ? 1 : 0))
    }

    @Test func anEndCancelsTheRepairThatRuns() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero))
        launch.addRepair("slow", impact: 1) {
            log.add("slow")
            do { try await stayUntilCancelled() } catch {
                log.add("cancelled")
                throw error
            }
        }
        launch.addTask("work") { log.add("work") }
        try await launch.begin().get()
        simulation.end(.crash)
        _ = log.take()
        let begun = Task { try await launch.begin().get() }
        try await log.wait(for: "slow")
        #expect(simulation.end(.terminated))
        let error = await #expect(throws: LaunchGuardError.self) { try await begun.value }
        #expect(error?.code == .closed)
        try await log.wait(for: "cancelled")
        #expect(log.take() == ["slow", "cancelled"])
        #expect(launch.info?.interruptions == 1)
    }

    @Test func aTaskMayEndItsRun() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        launch.addTask("crash") {
            log.add("crash \(launch.streak)")
            simulation.end(.crash)
            log.add("cancelled \(Task.isCancelled)")
        }
        launch.addTask("work") { log.add("work") }
        for streak in 0...1 {
            let error = await #expect(throws: LaunchGuardError.self) { try await launch.begin().get() }
            #expect(error?.code == .closed)
            #expect(log.take() == ["crash \(streak)", "cancelled true"])
        }
        // Two crashes happened in this task: the first rung leaves it out.
        #expect(launch.info?.lastTask == "crash")
        try await launch.begin().get()
        #expect(log.take() == ["work"])
        #expect(launch.state(ofTask: "crash") == .leftOut)
        #expect(launch.state(ofTask: "work") == .done)
    }

    @Test func updatesEndWithEachRunAndBeginAgainWithTheNext() async throws {
        let simulation = try Simulation()
        let launch = Self.prepare(simulation.session, Log())
        for run in 1...3 {
            var updates = launch.statusUpdates.makeAsyncIterator()
            try await launch.begin().get()
            if run == 1 { launch.finish() }
            simulation.end(.crash)
            var seen: [Launch.Status] = []
            while let status = await updates.next() { seen.append(status) }
            #expect(seen == [.idle, .launching, run == 1 ? .finished : .idle])
        }
        let open = launch.statusUpdates
        async let last = open.reduce(into: []) { $0.append($1) }
        simulation.close()
        #expect(await last == [.idle])
        #expect(!simulation.end(.crash))
    }

    @Test func simulationsKnowNothingOfEachOther() async throws {
        let simulations = try (1...4).map { _ in try Simulation() }
        let launches = simulations.map { Self.prepare($0.session, Log()) }
        try await launches[0].begin().get()
        simulations[0].end(.crash)
        #expect(launches.map(\.streak) == [1, 0, 0, 0])
        simulations[0].close()
        try await launches[1].begin().get()
        #expect(launches[1].status == .launching)
        #expect(launches[1].info?.launches == 1)
    }
}
