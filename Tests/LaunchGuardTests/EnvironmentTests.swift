import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// What is no crash, and what is missing in the environment, ends no program and counts for
/// nothing.
@Suite struct EnvironmentTests {
    /// An essential task throws at three starts. The program ends with a status of its own.
    @Test func threeStartsWithoutANetworkAreNoCrash() async throws {
        let scene = try Scene()
        for _ in 1...3 {
            await #expect(processExitsWith: .exitCode(1)) { [directory = scene.directory as String] in
                let child = Child(directory)
                let launch = try child.start().launch("main")
                launch.addRepair("wipe the cache", impact: 10) { child.note("wiped") }
                launch.addTask("sign in", options: .essential) { throw Failure(description: "no network") }
                let outcome = await launch.begin()
                guard case .failed("sign in", let error as Failure) = outcome else { exit(2) }
                child.note("\(launch.streak) \(error) \(outcome.problem!)")
                exit(1)
            }
        }
        #expect(scene.journal == Array(repeating: "0 no network failed: task \"sign in\" failed: no network", count: 3))
        #expect(try scene.runs().map { $0.verdict?.end } == [.exit, .exit, .exit])
        let info = try Launch.info(of: "main", stateDirectory: scene.directory + "/state")
        #expect(info.streak == 0 && info.status == .idle)
    }

    @Test func aSecondBeginIsRefusedAndTheLaunchGoesOn() async throws {
        let launch = try Simulation().session.launch("main", .init(window: .zero))
        guard case .launched = await launch.begin() else { return #expect(Bool(false)) }
        guard case .refused(let error) = await launch.begin() else { return #expect(Bool(false)) }
        #expect(error.code == .state)
        guard case .launched = await launch.waitUntilLaunched() else { return #expect(Bool(false)) }
    }

    /// The form of README with everything that may be missing.
    @Sendable static func run(_ child: Child, configure: (inout Session.Configuration) -> Void = { _ in }) async throws -> Session {
        let session = try child.start(version: "1", configure)
        var configuration = Delivery.Configuration(target: .http("http://127.0.0.1:9/"), consent: .given)
        configuration.agentPath = child.directory + "/missing"
        try session.delivery.start(configuration)
        try session.watchMemory(nearPercent: 100)
        let launch = session.launch("main")
        launch.addTask("open") { child.note("opened") }
        guard case .launched = await launch.begin() else { exit(2) }
        launch.finish()
        child.note("delivery: \(session.delivery.problem?.code.description ?? "none")")
        child.note("memory: \(session.memoryWatchProblem?.code.description ?? "none")")
        return session
    }

    @Test func aProgramWithoutAnAgentGoesOn() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            _ = try await Self.run(Child(directory))
        }
        #expect(scene.journal == ["opened", "delivery: no-agent", "memory: none"])
        #expect(try scene.lastLog().contains { $0.hasPrefix("delivery: no-agent: ") })
    }

    @Test func theSwitchOfTheOperatorEndsNoProgram() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            unsafe setenv("LAUNCHGUARD_NO_DELIVERY", "1", 1)
            let session = try await Self.run(Child(directory))
            #expect(session.delivery.requestReport("for a test") == nil)
            #expect(try await session.delivery.wait(.milliseconds(1)) == .nothing)
        }
        #expect(scene.journal == ["opened", "delivery: disabled", "memory: none"])
    }

    /// A limit on the size of files keeps the configuration from being stored.
    @Test func aLimitOnFilesEndsNoProgram() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            signal(SIGXFSZ, SIG_IGN)
            var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
            try session.delivery.start(.init(target: .http("http://127.0.0.1:9/"), consent: .given))
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            child.note("delivery: \(session.delivery.problem?.code.description ?? "none")")
        }
        #expect(scene.journal == ["delivery: limit"])
    }

    @Test func aSecondInstanceGoesOn() async throws {
        let scene = try Scene()
        async let first = #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            child.note("first")
            try await waitUntil("the second instance ends") { child.hasNote("second") }
            session.stop()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            try await waitUntil("the first instance holds the ledger") { child.hasNote("first") }
            defer { child.note("second") }
            let session = try await Self.run(child)
            #expect(session.problem?.code == .secondary)
        }
        _ = await first
        #expect(scene.journal == ["first", "opened", "delivery: secondary", "memory: none", "second"])
    }

    @Test func anUnwritableDirectoryEndsNoProgram() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try await Self.run(Child(directory)) { $0.stateDirectory = "/dev/null/state" }
            #expect(session.problem?.code == .notDirectory)
            #expect(!session.delivery.setConsent(.withheld))
        }
        #expect(scene.journal == ["opened", "delivery: unprotected", "memory: unprotected"])
    }
}
