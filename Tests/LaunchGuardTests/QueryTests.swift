import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// The contents of another program's ledger, and the statuses stored in it.
@Suite struct QueryTests {
    private static func info(_ scene: Scene, _ context: String = "main", role: String? = nil) throws(LaunchGuardError) -> LaunchInfo {
        try Launch.info(of: context, stateDirectory: scene.directory + "/state" + (role.map { "/" + $0 } ?? ""))
    }

    @Test func theNextLaunchOfADeadProgramIsPredicted() async throws {
        let scene = try Scene()
        let missing = #expect(throws: LaunchGuardError.self) { try Self.info(scene) }
        #expect(missing?.code == .notFound)
        for streak in 1...2 {
            await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
                let launch = try Child(directory).start().launch("main", .init(safeMode: .init(crashLimit: nil)))
                launch.addRepair("mend", impact: 1) {}
                launch.addTask("open database", options: .essential) { Child.fault() }
                try await launch.begin().get()
            }
            let info = try Self.info(scene)
            #expect(info.name == "main")
            #expect(info.streak == streak)
            #expect(info.status == (streak == 1 ? .launching : .awaitingRepair))
            #expect(info.mode == .normal)
            #expect(info.lastTask == "open database")
            #expect(info.rungCount == 2)
            #expect(info.repairAfter == 2)
            #expect(info.unknownAfter == 4)
            #expect(info.safeCrashLimit == nil)
        }
        let nobody = #expect(throws: LaunchGuardError.self) { try Self.info(scene, "nobody") }
        #expect(nobody?.code == .notFound)
        let nonsense = #expect(throws: LaunchGuardError.self) { try Self.info(scene, "a\0b") }
        #expect(nonsense?.code == .option)
    }

    @Test func aLivingProgramIsSeenAsItIs() async throws {
        let scene = try Scene()
        async let program: Void = {
            await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
                let child = Child(directory)
                let launch = try child.start().launch("main", .init(window: .zero))
                try await launch.begin().get()
                child.note("launching")
                try await waitUntil("the other process says: seen") { child.hasNote("seen") }
                launch.finish()
                child.note("finished")
                try await waitUntil("the other process says: seen again") { child.hasNote("seen again") }
            }
        }()
        let child = Child(scene.directory, seconds: 0)
        try await waitUntil("the other process says: launching") { child.hasNote("launching") }
        #expect(try Self.info(scene).status == .launching)
        child.note("seen")
        try await waitUntil("the other process says: finished") { child.hasNote("finished") }
        #expect(try Self.info(scene).status == .finished)
        child.note("seen again")
        await program
    }

    @Test func aProgramIsFoundByItsName() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            unsafe unsetenv("STATE_DIRECTORY")
            unsafe setenv("XDG_STATE_HOME", directory, 1)
            let name = "org.example.tests"
            #expect(try Session.stateDirectory(appID: name) == directory + "/" + name)
            var configuration = Session.Configuration(appID: name)
            configuration.role = "worker"
            let session = try Session.start(configuration)
            #expect(session.stateDirectory == directory + "/" + name + "/worker")
            try await session.launch("main", .init(window: .zero)).begin().get()
            #expect(try Launch.info(of: "main", appID: name, role: "worker").status == .launching)
            let primary = #expect(throws: LaunchGuardError.self) { try Launch.info(of: "main", appID: name) }
            #expect(primary?.code == .notFound)
            let nonsense = #expect(throws: LaunchGuardError.self) { try Session.stateDirectory(appID: "a/b") }
            #expect(nonsense?.code == .option)
            for name in ["HOME", "XDG_STATE_HOME"] { unsafe unsetenv(name) }
            let nowhere = #expect(throws: LaunchGuardError.self) { try Session.stateDirectory(appID: name) }
            #expect(nowhere?.code == .noDirectory)
        }
    }

    @Test func rolesHaveLedgersOfTheirOwn() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let session = try Child(directory).start { $0.role = "worker" }
            let launch = session.launch("main")
            launch.addTask("crash") { Child.fault() }
            try await launch.begin().get()
        }
        #expect(try Self.info(scene, role: "worker").streak == 1)
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.launch("main").streak == 0)
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            for role in ["", "runs", "ledger.lg", "a/b", "a\0b"] {
                let error = #expect(throws: LaunchGuardError.self) {
                    _ = try Child(directory).start { $0.role = role }
                }
                #expect(error?.code == .option, "\(role)")
            }
        }
    }

    /// The announcements of a program before it is killed.
    enum Announcement: String, CaseIterable, Codable, Sendable { case none, terminate, restart }

    @Test(arguments: Announcement.allCases)
    func anAnnouncedEndDoesNotCount(_ announcement: Announcement) async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [announcement = announcement as Announcement, directory = scene.directory as String] in
            let session = try Child(directory).start()
            let launch = session.launch("main", .init(window: .zero))
            launch.addTask("last") {
                switch announcement {
                case .none: break
                case .terminate: session.announceTermination()
                case .restart: session.announceRestart()
                }
            }
            launch.addTask("never") { #expect(announcement == .none) }
            do throws(LaunchGuardError) {
                try await launch.begin().get()
                #expect(announcement == .none)
            } catch {
                #expect(error.code == .interrupted)
                #expect(launch.status == .finished)
            }
            kill(getpid(), SIGKILL)
        }
        let info = try Self.info(scene)
        #expect(info.unknown == (announcement == .none ? 1 : 0))
        #expect(info.streak == 0)
        #expect(try scene.runs().last?.verdict?.end == (announcement == .none ? .unknown : announcement == .restart ? .clean : .terminated))
    }

    @Test func withAWitnessTheEndIsExact() async throws {
        let scene = try Scene()
        let directory = scene.directory + "/state"
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let child = Child(directory)
            try await child.start().launch("main", .init(window: .zero)).begin().get()
            child.note("\(getpid())")
            kill(getpid(), SIGKILL)
        }
        let pid = try #require(scene.journal.first.flatMap(Int32.init))
        #expect(try Self.info(scene).unknown == 1)
        #expect(throws: LaunchGuardError.self) { try Session.witness(0x7f, of: pid, stateDirectory: directory) }
        // The wait status of a process that SIGABRT ended.
        try Session.witness(SIGABRT, of: pid, stateDirectory: directory)
        #expect(try Self.info(scene).unknown == 0)
        #expect(try Self.info(scene).streak == 1)
        let again = #expect(throws: LaunchGuardError.self) { try Session.witness(0, of: pid, stateDirectory: directory) }
        #expect(again?.code == .already)
        let nobody = #expect(throws: LaunchGuardError.self) { try Session.witness(0, of: 1, stateDirectory: directory) }
        #expect(nobody?.code == .notFound)
    }
}
