import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// The start of a session: mistakes of the program, and faults of its environment.
@Suite struct StartTests {
    @Test func aHealthyStartIsFullyProtected() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.problem == nil)
            #expect(session.protection == .full)
            #expect(session.stateDirectory == directory + "/state")
            #expect(session.runPath?.hasPrefix(directory + "/state/") == true)
        }
        let run = try #require(try scene.runs().last)
        #expect(run.identity?.appID == "org.example.tests")
        #expect(run.identity?.appVersion == "1")
        #expect(run.verdict?.end == .clean)
    }

    @Test func stoppingEndsTheRun() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            session.stop()
            #expect(session.protection == .unprotected)
            session.log(.info, "too late")
            kill(getpid(), SIGKILL)
        }
        let run = try #require(try scene.runs().last)
        #expect(run.verdict?.end == .clean)
        #expect(try scene.lastLog().contains("too late") == false)
    }

    @Test func theSessionCanBeFoundWhileItRuns() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            #expect(Session.current == nil)
            let session = try Child(directory).start()
            let simulation = try Simulation()
            #expect(Session.current === session)
            simulation.session.stop()
            Session.current?.log(.info, "from a library")
            session.stop()
            #expect(Session.current == nil)
            kill(getpid(), SIGKILL)
        }
        #expect(try scene.lastLog().contains("from a library"))
    }

    /// Mistakes in the call, each in a process of its own.
    enum Mistake: String, CaseIterable, Codable, Sendable {
        case noName, badName, nameWithNUL, longName, longVersion, noRing, negativeRing, hugeRing, smallRing, noDeadline
        case negativeDeadline, longDeadline, noRuns, pathWithNUL, noHang, shortHang, longHang

        func make(in configuration: inout Session.Configuration) {
            switch self {
            case .noName: configuration.appID = ""
            case .badName: configuration.appID = "a/b"
            case .nameWithNUL: configuration.appID = "a\0b"
            case .longName: configuration.appID = String(repeating: "a", count: 64)
            case .longVersion: configuration.version = String(repeating: "1", count: 64)
            case .noRing: configuration.ringBytes = 0
            case .negativeRing: configuration.ringBytes = -1
            case .hugeRing: configuration.ringBytes = 1 << 40
            case .smallRing: configuration.ringBytes = 4095
            case .noDeadline: configuration.deadline = .zero
            case .negativeDeadline: configuration.deadline = .seconds(-1)
            case .longDeadline: configuration.deadline = .seconds(61)
            case .noRuns: configuration.keepRuns = 0
            case .noHang: configuration.hangThresholds.launching = .zero
            case .shortHang: configuration.hangThresholds.running = .milliseconds(99)
            case .longHang: configuration.hangThresholds.launching = .seconds(3601)
            case .pathWithNUL: configuration.stateDirectory? += "\0/state"
            }
        }
    }

    @Test(arguments: Mistake.allCases)
    func aMistakeInTheCallIsThrown(_ mistake: Mistake) async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [mistake = mistake as Mistake, directory = scene.directory as String] in
            let child = Child(directory)
            do throws(LaunchGuardError) {
                _ = try child.start { mistake.make(in: &$0) }
                Issue.record("\(mistake) was accepted")
            } catch {
                #expect([LaunchGuardError.Code.option, .argument].contains(error.code), "\(error)")
                #expect(!error.message.isEmpty)
            }
            child.note("done")
        }
        #expect(scene.journal == ["done"])
    }

    @Test func aSecondStartIsThrownAndTheFirstSessionGoesOn() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            let error = #expect(throws: LaunchGuardError.self) { _ = try child.start() }
            #expect(error?.code == .already)
            #expect(session.protection == .full)
            session.log(.info, "still here")
        }
        #expect(try scene.lastLog().contains("still here"))
    }

    /// Faults of the environment. A program starts in spite of each of them.
    enum Obstacle: String, CaseIterable, Codable, Sendable {
        case file, fileInPath, link, unwritable, unknown

        var code: LaunchGuardError.Code {
            switch self {
            case .file, .fileInPath: .notDirectory
            case .link: .link
            case .unwritable: .permission
            case .unknown: .noDirectory
            }
        }

        /// Put the obstacle in place; returns the state directory to ask for.
        func prepare(_ directory: String) -> String? {
            let path = directory + "/state"
            switch self {
            case .file:
                _ = FileManager.default.createFile(atPath: path, contents: Data())
                return path
            case .fileInPath:
                _ = FileManager.default.createFile(atPath: path, contents: Data())
                return path + "/below"
            case .link:
                // a link of the same user to the directory would do; to the ledger none does
                unsafe mkdir(path, 0o700)
                unsafe symlink(directory, path + "/ledger.lg")
                return path
            case .unwritable:
                // The superuser may write everywhere, so become an ordinary user.
                unsafe chmod(directory, 0o755)
                if getuid() == 0 { setuid(65534) } else { unsafe chmod(directory, 0o555) }
                return path
            case .unknown:
                for name in ["HOME", "XDG_STATE_HOME", "STATE_DIRECTORY"] { unsafe unsetenv(name) }
                return nil
            }
        }
    }

    @Test(arguments: Obstacle.allCases)
    func aBadDirectoryDoesNotStopTheProgram(_ obstacle: Obstacle) async throws {
        let scene = try Scene()
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [obstacle = obstacle as Obstacle, directory = scene.directory as String] in
            alarm(20)
            let session = try Session.start(appID: "org.example.tests", stateDirectory: obstacle.prepare(directory))
            #expect(session.protection == .unprotected)
            #expect(session.problem?.code == obstacle.code, "\(String(describing: session.problem))")
            #expect(session.problem?.message.isEmpty == false)
            #expect(session.runPath == nil)
            let launch = session.launch("main")
            #expect(launch.problem?.code == .unprotected)
            launch.addRepair("never", impact: 1) { print("repaired") }
            launch.addTask("work") { print("worked") }
            session.log(.info, "goes nowhere")
            #expect(try await Child.statuses(of: launch) == [.idle, .launching, .finished])
            #expect(launch.streak == 0)
            fflush(nil)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("worked"))
        #expect(!output.contains("repaired"))
    }

    @Test func aDamagedLedgerIsKeptAsideAndTheProgramProtected() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        try Data("not a ledger".utf8).write(to: URL(fileURLWithPath: StateDirectory(path: scene.directory + "/state").ledgerPath))
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.problem?.code == .damaged)
            #expect(session.protection == .full)
            #expect(session.launch("main").problem == nil)
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.problem == nil)
        }
    }

    @Test func aSecondProcessRecordsButDoesNotCount() async throws {
        let scene = try Scene()
        async let first: Void = {
            await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
                let child = Child(directory)
                let session = try child.start()
                #expect(session.protection == .full)
                child.note("first runs")
                try await waitUntil("the other process says: second is done") { child.hasNote("second is done") }
            }
        }()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            try await waitUntil("the other process says: first runs") { child.hasNote("first runs") }
            let session = try child.start()
            #expect(session.protection == .recordOnly)
            #expect(session.problem?.code == .secondary)
            let launch = session.launch("main")
            #expect(launch.problem?.code == .secondary)
            launch.addTask("work") { child.note("second works") }
            try await launch.begin().get()
            child.note("second is done")
        }
        await first
        #expect(scene.journal == ["first runs", "second works", "second is done"])
    }
}
