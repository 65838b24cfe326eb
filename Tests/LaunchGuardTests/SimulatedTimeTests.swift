import LaunchGuard
import Testing
import TestSupport

/// Simulated time within a run, and the state that one simulated run leaves to the next.
@Suite(.timeLimit(.minutes(10))) struct SimulatedTimeTests {
    @Test func aRepairRunsOutOfTime() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero))
        launch.addRepair("silent", impact: 1, timeout: .seconds(3600), attempts: 1) {
            log.add("silent")
            try await stayUntilCancelled()
        }
        launch.addRepair("good", impact: 2) { log.add("good") }
        try await launch.begin().get()
        simulation.end(.crash)
        async let begun = launch.begin()
        try await log.wait(for: "silent")
        #expect(simulation.pass(.seconds(3000))) // plain time counts as well
        #expect(launch.status == .repairing)
        #expect(simulation.pass(.seconds(600)))
        try await begun.get()
        #expect(log.take() == ["silent", "good"])
        #expect(launch.mode == .probation)
        simulation.close()
    }

    @Test func aHoldRunsOutOfTime() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero, holdDeadline: .seconds(3600), repairsAutomatically: false))
        launch.addRepair("unwanted", impact: 1) { log.add("repair") }
        launch.addTask("task") { log.add("run") } onProtect: { log.add("protect") }
        try await launch.begin().get()
        simulation.end(.crash)
        _ = log.take()
        async let begun = launch.begin()
        try await log.wait(for: "protect")
        #expect(simulation.pass(.seconds(3000)))
        #expect(launch.status == .awaitingRepair)
        #expect(simulation.pass(.seconds(3600)))
        try await begun.get()
        #expect(launch.mode == .safe)
        #expect(log.take() == ["protect", "run"])
        simulation.close()
    }

    @Test func anAnnouncedEndIsThatOfOneRun() async throws {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero))
        launch.addRepair("good", impact: 1) {}
        try await launch.begin().get()
        simulation.session.announceTermination()
        simulation.end(.terminated)
        try await launch.begin().get()
        simulation.end(.crash)
        try await launch.begin().get()
        #expect(launch.status == .launching, "the repair does not end the program")
        #expect(launch.mode == .probation)
        simulation.close()
    }
}
