import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// Options that a launch rarely needs.
@Suite struct ConfigurationTests {
    @Test(arguments: ["1", "yes", "0", ""])
    func theKillSwitchMakesALaunchUnprotected(_ value: String) async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [value = value as String, directory = scene.directory as String] in
            unsafe setenv("TESTS_UNPROTECTED", value, 1)
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(killSwitch: "TESTS_UNPROTECTED"))
            launch.addRepair("mend", impact: 1) { child.note("mend") }
            launch.addTask("work") { child.note("work") }
            try await launch.begin().get()
            let isSet = ["1", "yes"].contains(value)
            #expect(launch.problem?.code == (isSet ? .unprotected : nil))
            #expect((launch.info == nil) == isSet)
            #expect(launch.mode == (isSet ? .normal : .probation))
        }
        #expect(scene.journal == (["1", "yes"].contains(value) ? ["work"] : ["mend", "work"]))
    }

    @Test func inShadowALaunchReportsWhatItWouldHaveDone() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(isShadow: true))
            launch.addRepair("mend", impact: 1) { child.note("mend") }
            launch.addTask("work") { child.note("work") }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["work"])
        #expect(try scene.lastLog().contains { $0.contains("shadow") && $0.contains("held for rung 1, repair") })
    }

    @Test func whatCountsIsChosen() async throws {
        let scene = try Scene()
        for expected in 0...1 {
            await #expect(processExitsWith: .exitCode(3)) { [expected = expected as Int, directory = scene.directory as String] in
                let launch = try Child(directory).start().launch("main", .init(window: .zero, count: [.crash, .exit]))
                #expect(launch.streak == expected)
                try await launch.begin().get()
                exit(3)
            }
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.launch("main").streak == 2)
        }
    }

    @Test func aLaunchWithoutAHeartbeatHangs() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main", .init(window: .zero, heartbeat: .milliseconds(40)))
            try await launch.begin().get()
            passTime(.milliseconds(400), why: "the process lives ten times as long as its heartbeat may be late")
            kill(getpid(), SIGKILL)
        }
        #expect(try scene.runs().last?.verdict?.end == .hang)
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.launch("main").streak == 1)
        }
    }

    @Test func aCrashInAModuleCountsForItsOwner() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let program = try #require(CommandLine.arguments.first?.split(separator: "/").last.map(String.init))
            let owner = session.launch("owner", .init(window: .zero, modules: ["libnothing.so", program]))
            #expect(owner.problem == nil)
            try await owner.begin().get()
            try await session.launch("other", .init(window: .zero)).begin().get()
            Child.fault()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.launch("owner").streak == 1)
            #expect(session.launch("other").streak == 0)
        }
    }

    /// Values that make no sense.
    enum Nonsense: String, CaseIterable, Codable, Sendable {
        case noSteadyTime, noHeartbeat, longHeartbeat, noDeadline, longDeadline, noRetry, manyRetries, noLimit, noRuns, noTime, emptySwitch
        case switchWithNUL, emptyModule, moduleWithNUL, longModules, unknownCount

        var configuration: Launch.Configuration {
            switch self {
            case .noSteadyTime: .init(steadyAfter: .zero)
            case .noHeartbeat: .init(heartbeat: .zero)
            case .longHeartbeat: .init(heartbeat: .seconds(86_401))
            case .noDeadline: .init(holdDeadline: .zero)
            case .longDeadline: .init(holdDeadline: .seconds(86_401))
            case .noRetry: .init(safeMode: .init(retryRuns: 0))
            case .manyRetries: .init(safeMode: .init(retryRuns: 9))
            case .noLimit: .init(safeMode: .init(crashLimit: 0))
            case .noRuns: .init(deescalation: .init(runs: -1))
            case .noTime: .init(deescalation: .init(time: .zero))
            case .emptySwitch: .init(killSwitch: "")
            case .switchWithNUL: .init(killSwitch: "a\0b")
            case .emptyModule: .init(modules: ["liba.so", ""])
            case .moduleWithNUL: .init(modules: ["liba.so\0"])
            case .longModules: .init(modules: (1...30).map { "library\($0).so" })
            case .unknownCount: .init(count: .init(rawValue: 1 << 10))
            }
        }
    }

    @Test(arguments: Nonsense.allCases)
    func nonsenseMakesAnUnprotectedLaunchThatRunsItsTasks(_ nonsense: Nonsense) async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", nonsense.configuration)
        #expect(launch.problem?.code == .option, "\(String(describing: launch.problem))")
        #expect(launch.problem?.message.isEmpty == false)
        launch.addTask("work") { log.add("work") }
        #expect(try await Child.statuses(of: launch) == [.idle, .launching, .finished])
        #expect(log.all == ["work"])
        #expect(launch.info == nil)
    }

    @Test func theDefaultsAndTheLongestAreTaken() throws {
        let simulation = try Simulation()
        let never = Launch.Configuration(
            steadyAfter: nil, safeMode: .init(retryRuns: 8, crashLimit: nil), deescalation: .init(runs: nil, time: nil), modules: ["liba.so", "libb.so"])
        #expect(simulation.session.launch("never", never).problem == nil)
        let longest = Launch.Configuration(
            count: [.crash, .hang, .oom, .exit, .brokenPipe], heartbeat: .seconds(86_400), hold: .never, holdDeadline: .seconds(86_400))
        #expect(simulation.session.launch("longest", longest).problem == nil)
        #expect(simulation.session.launch("default").problem == nil)
    }
}
