import Glibc
import LaunchGuard
import Testing
import TestSupport

/// The program decides the course of its launch, and hears of ends that were in none.
@Suite struct DecisionTests {
    private struct Scenario {
        let log = Log()
        let simulation: Simulation
        let launch: Launch

        init(_ configuration: Launch.Configuration = .init(), _ decide: (@Sendable (LaunchInfo) -> Launch.Decision)? = nil) throws {
            simulation = try Simulation()
            var configuration = configuration.with(repairAfter: 1, window: .zero)
            configuration.onDecide = decide
            configuration.onReport = { [log] batch in log.add("report \(batch.streak)") }
            launch = simulation.session.launch("main", configuration)
            launch.addRepair("mend", impact: 1) { [log] in log.add("mend") }
            launch.addTask("work", options: .suspect) { [log] in log.add("work") } onProtect: { [log] in log.add("protect") }
        }

        func lives(_ end: Report.End) async throws -> [String] {
            try await launch.begin().get()
            simulation.end(end)
            return log.take()
        }
    }

    @Test func theProgramGoesOnWhereTheRuleWouldHold() async throws {
        let log = Log()
        let scenario = try Scenario { info in
            log.add("\(info.status) \(info.streak) of \(info.repairAfter)")
            return info.status == .awaitingRepair ? .goOn : .byRule
        }
        #expect(try await scenario.lives(.crash) == ["work"])
        #expect(try await scenario.lives(.crash) == ["report 1", "work"])
        #expect(scenario.launch.info?.streak == 2)
        #expect(log.take() == ["launching 0 of 1", "awaitingRepair 1 of 1"])
    }

    @Test func theProgramSeesWhatCrashed() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(onDecide: { info in
                let last = info.lastReport
                child.note("\(last?.kind ?? "") \(last?.isSameAsBefore == true) \(last?.place?.contains("+0x") == true) \(last?.fingerprint?.count ?? 0)")
                return .goOn
            }))
            try await launch.begin().get()
        }
        #expect(scene.journal == ["fault.null_offset true true 32"])
    }

    @Test func theProgramAsksForARepairFirst() async throws {
        let scenario = try Scenario { _ in .protect }
        #expect(try await scenario.lives(.clean) == ["protect", "mend", "work"])
        let early = try Scenario()
        #expect(early.launch.protect(reason: "the disk says no"))
        #expect(try await early.lives(.clean) == ["protect", "mend", "work"])
        #expect(try await early.lives(.clean) == ["work"])
    }

    @Test func aHeldLaunchWaitsForTheProgram() async throws {
        let holds = Holds()
        let scenario = try Scenario(.init(hold: .custody, onHold: { holds.keep($0) })) { _ in .hold }
        try await scenario.launch.begin().get()
        let hold = try await holds.next()
        #expect(hold.reason == .init(kind: .decided, repair: "mend") && scenario.launch.status == .awaitingRepair)
        passTime(.milliseconds(50), why: "the repair does not run by itself")
        #expect(scenario.log.take() == ["protect"])
        hold.skip()
        try await scenario.launch.waitUntilLaunched().get()
        #expect(scenario.log.take() == ["work"])
    }

    @Test func theFirstRepairMayTakeTheFirstTurn() async throws {
        let first = try Scenario(.init(leavesOutSuspects: false))
        #expect(try await first.lives(.crash) == ["work"])
        #expect(try await first.lives(.clean) == ["report 1", "protect", "mend", "work"])
    }

    @Test func anEndAfterTheLaunchIsReportedAtTheNextStart() async throws {
        let scenario = try Scenario()
        try await scenario.launch.begin().get()
        scenario.launch.finish()
        scenario.simulation.pass(.seconds(60))
        scenario.simulation.end(.crash)
        _ = scenario.log.take()
        #expect(try await scenario.lives(.clean) == ["report 0", "work"])
        #expect(try await scenario.lives(.clean) == ["work"])
    }

    @Test func theProgramLooksForRunsThatNobodyWasToldOf() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main", .init(window: .zero, finish: .mark))
            try await launch.begin().get()
            launch.finish()
            Child.fault()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let untold = session.untoldReports
            #expect(untold.map(\.end) == [.crash])
            #expect(untold.map(\.isInLaunch) == [false])
            #expect(untold.map(\.signal) == [SIGSEGV])
            #expect(session.markTold(untold[0]))
            #expect(session.untoldReports.isEmpty)
        }
    }

    @Test func anOperatorAsksByOtherThresholdsAndResets() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main", .init(repairAfter: 5, window: .milliseconds(700), finish: .both))
            launch.addRepair("mend", impact: 1) {}
            try await launch.begin().get()
            Child.fault()
        }
        let state = scene.directory + "/state"
        let info = try Launch.info(of: "main", stateDirectory: state)
        #expect(info.status == .launching)
        #expect(info.window == .milliseconds(700))
        #expect(info.finish == .both)
        #expect(try Launch.info(of: "main", stateDirectory: state, by: .init(repairAfter: 1)).status == .awaitingRepair)
        let nonsense = #expect(throws: LaunchGuardError.self) {
            try Launch.info(of: "main", stateDirectory: state, by: .init(repairAfter: 0))
        }
        #expect(nonsense?.code == .option)
        try Launch.reset("main", stateDirectory: state)
        #expect(try Launch.info(of: "main", stateDirectory: state).status == .idle)
        let missing = #expect(throws: LaunchGuardError.self) { try Launch.reset("nobody", stateDirectory: state) }
        #expect(missing?.code == .notFound)
    }
}
