import Glibc
import LaunchGuard
import Testing

/// Delivery, without an agent.
@Suite struct DeliveryTests {
    @Test func withoutAnAgentReportsStayOwed() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            var configuration = Delivery.Configuration(target: .http("http://127.0.0.1:9/"), consent: .given)
            configuration.agentPath = directory + "/missing"
            let early = await #expect(throws: LaunchGuardError.self) { try await session.delivery.wait() }
            #expect(early?.code == .state)
            try session.delivery.start(configuration)
            #expect(session.delivery.problem?.code == .noAgent)
            #expect(try await session.delivery.wait(.seconds(1)) == .nothing)
            #expect(session.delivery.requestReport("for a test")?.count == 36)
            #expect(try await session.delivery.wait(.seconds(5)) == .timeout)
            #expect(try session.delivery.entries().isEmpty)
            #expect(session.delivery.setConsent(.withheld))
            #expect(try await session.delivery.wait(.seconds(5)) == .nothing)
        }
    }

    @Test func nonsenseIsRefused() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            var configurations = [Delivery.Configuration](repeating: .init(target: .http("http://127.0.0.1:9/")), count: 5)
            configurations[0].ends = []
            configurations[0].reportsUnknownInLaunch = false
            configurations[1].keepReports = 0
            configurations[2].keepBytes = 1
            configurations[3].target = .otlp(nil)
            configurations[4].hintKey = "no key"
            for configuration in configurations {
                let error = #expect(throws: LaunchGuardError.self) { try session.delivery.start(configuration) }
                #expect(error?.code == .option)
            }
        }
    }

    /// A simulated session delivers nothing, and its sequence ends with it.
    @Test func theSequenceEndsWithTheSession() async throws {
        let simulation = try Simulation()
        let delivery = simulation.session.delivery
        try delivery.start(.init(target: .sentry(dsn: "https://key@host/1"), consent: .given))
        #expect(try await delivery.wait(.seconds(5)) == .nothing)
        var acknowledgements = delivery.acknowledgements.makeAsyncIterator()
        simulation.close()
        #expect(await acknowledgements.next() == nil)
        var late = delivery.acknowledgements.makeAsyncIterator()
        #expect(await late.next() == nil)
    }
}
