import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// The launch as a whole: counting, report, repair, going on.
@Suite struct LaunchTests {
    @Test func twoCrashesAreReportedAndRepairedInTheThirdStart() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        #expect(try scene.runs().map(\.verdict?.end) == [.crash, .crash])

        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(reportAfter: 2, repairAfter: 2, onReport: { batch in
                child.note("\(batch.context) \(batch.streak) \(batch.reports.map { "\($0.ordinal) \($0.end) \($0.signal ?? 0)" })")
                for report in batch.reports {
                    let run = try Reader(path: report.path).run()
                    #expect(run.identity?.uuid == report.uuid)
                }
            }))
            launch.addRepair("mend", impact: 10) { child.note("repair") }
            launch.addTask("work") { child.note("work") }
            #expect(launch.streak == 2)
            try await launch.begin().get()
            #expect(launch.status == .launching)
            #expect(launch.finish())
            #expect(launch.status == .finished)
        }
        #expect(scene.journal == ["main 2 [\"1 crash 11\", \"2 crash 11\"]", "repair", "work"])

        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(onReport: { child.note("report \($0.streak)") }))
            launch.addRepair("mend", impact: 10) { child.note("repair") }
            #expect(launch.streak == 0)
            try await launch.begin().get()
            child.note("healthy")
        }
        #expect(scene.journal.last == "healthy")
        #expect(scene.journal.count == 4)
    }

    @Test func contextsAreCountedApart() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            try await Child(directory).crash(in: "player")
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            #expect(session.launch("player").streak == 1)
            #expect(session.launch("main").streak == 0)
        }
    }

    @Test func anErrorAtTheTopLevelIsNoLaunchCrash() async throws {
        let scene = try Scene()
        for _ in 1...2 {
            await #expect(processExitsWith: .signal(SIGILL)) { [directory = scene.directory as String] in
                try await Child(directory).start().launch("main").begin().get()
                fatalError("Error raised at top level: Offline()")  // the words of the runtime
            }
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main")
            #expect(launch.streak == 0)
        }
        let kinds = try scene.runs().map { $0.verdict?.kind ?? "none" }
        #expect(kinds == ["trap.swift.top_level", "trap.swift.top_level", "none"])
    }

    @Test func aCrashAfterTheMarkIsNoLaunchCrash() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main", .init(window: .zero))
            try await launch.begin().get()
            launch.finish()
            Child.fault()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main")
            #expect(launch.streak == 0)
        }
    }

    @Test func theWindowFinishesALaunch() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main", .init(window: .milliseconds(50), finish: .time))
            try await launch.begin().get()
            for await status in launch.statusUpdates where status == .finished { break }
            #expect(launch.status == .finished)
        }
    }

    /// Options that make no sense.
    enum Nonsense: String, CaseIterable, Codable, Sendable {
        case noName, nameWithNUL, longName, noReport, noRepair, negativeRepair, negativeUnknown, negativeWindow, longWindow
        case negativeWait, longWait, timeWithoutWindow

        func launch(_ session: Session) -> Launch {
            switch self {
            case .noName: session.launch("")
            case .nameWithNUL: session.launch("ma\0in")
            case .longName: session.launch(String(repeating: "n", count: 64))
            case .noReport: session.launch("main", .init(reportAfter: 0))
            case .noRepair: session.launch("main", .init(repairAfter: 0))
            case .negativeRepair: session.launch("main", .init(repairAfter: -1))
            case .negativeUnknown: session.launch("main", .init(unknownAfter: -1))
            case .negativeWindow: session.launch("main", .init(window: .seconds(-1)))
            case .longWindow: session.launch("main", .init(window: .seconds(86_401)))
            case .negativeWait: session.launch("main", .init(reportWait: .nanoseconds(-1)))
            case .longWait: session.launch("main", .init(reportWait: .seconds(6)))
            case .timeWithoutWindow: session.launch("main", .init(window: .zero, finish: .time))
            }
        }
    }

    @Test(arguments: Nonsense.allCases)
    func nonsenseMakesAnUnprotectedLaunchThatRunsItsTasks(_ nonsense: Nonsense) async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [nonsense = nonsense as Nonsense, directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            let launch = nonsense.launch(session)
            #expect(launch.problem?.code == .option, "\(String(describing: launch.problem))")
            launch.addTask("work") { child.note("work") }
            #expect(try await Child.statuses(of: launch) == [.idle, .launching, .finished])
            #expect(session.protection == .full)
        }
        #expect(scene.journal == ["work"])
    }

    @Test func oneNameIsOneLaunch() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let launch = session.launch("main")
            #expect(session.launch("main") === launch)
            let other = session.launch("main", .init(repairAfter: 5))
            #expect(other !== launch)
            #expect(other.problem?.message == "the session has a launch \"main\" already: its repairAfter is 2, not 5")
            try await other.begin().get()
            #expect(launch.problem == nil && launch.status == .idle)
            try await launch.begin().get()
            #expect(launch.status == .launching)
            #expect(session.launch("other") !== launch)
        }
    }

    @Test func aSecondConfigurationIsTheSameOrAMistakeWithAName() throws {
        let session = try Simulation().session
        let first = session.launch("main", .init(repairAfter: 3, heartbeat: .seconds(9), onReport: { _ in }))
        #expect(session.launch("main") === first)
        #expect(session.launch("main", .init(repairAfter: 3, heartbeat: .seconds(9))) === first)
        let mistakes: [(Launch.Configuration, String)] = [
            (.init(repairAfter: 3), "its heartbeat is Optional(9.0 seconds), not nil"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), killSwitch: "NO"), "its killSwitch is nil, not Optional(\"NO\")"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), safeMode: .init(crashLimit: 7)), "its safeMode is"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), onDecide: { _ in .byRule }), "has onDecide: keep the launch, or ask for it by its name alone"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), onReport: { _ in }), "has onReport: keep"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), onHold: { _ in }), "has onHold: keep"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), onGiveUp: { _ in }), "has onGiveUp: keep"),
            (.init(repairAfter: 3, heartbeat: .seconds(9), onStatus: { _ in }), "has onStatus: keep"),
        ]
        for (configuration, text) in mistakes {
            let other = session.launch("main", configuration)
            #expect(other !== first && other.problem?.code == .option)
            #expect(other.problem?.message.contains(text) == true, "\(other.problem?.message ?? "")")
            #expect(other.problem?.message.hasPrefix("the session has a launch \"main\" already: ") == true)
        }
        #expect(first.problem == nil && session.launch("main") === first)
        let byName = session.launch("plain")
        #expect(session.launch("plain", .init()) === byName)
    }

    @Test func whatComesTooLateHasAProblemWithItsName() async throws {
        for isTask in [false, true] {
            let log = Log()
            let launch = try Simulation().session.launch("main", .init(window: .zero))
            try await launch.begin().get()
            if isTask { launch.addTask("late") { log.add("ran") } } else { launch.addRepair("late", impact: 1) { log.add("ran") } }
            #expect(launch.problem?.code == .state)
            #expect(launch.problem?.message.hasPrefix(isTask ? "task \"late\": " : "repair \"late\": ") == true, "\(launch.problem?.message ?? "")")
            #expect(log.all == [])
        }
    }

    @Test func aLaunchBeginsOnceAndIsFinishedAfterThat() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main")
            #expect(launch.status == .idle)
            #expect(!launch.finish())
            try await launch.begin().get()
            let error = await #expect(throws: LaunchGuardError.self) { try await launch.begin().get() }
            #expect(error?.code == .state)
            #expect(launch.finish())
            #expect(launch.finish())
        }
    }

    @Test func aFailedReportDoesNotStopTheLaunch() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            try await Child(directory).crash()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main", .init(reportAfter: 1, onReport: { _ in throw Failure(description: "no network") }))
            try await launch.begin().get()
        }
        #expect(try scene.lastLog().contains { $0.contains("report failed: no network") })
    }

    @Test func aSlowReportHoldsTheLaunchOnlyForItsWait() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            try await Child(directory).crash()
        }
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(reportAfter: 1, reportWait: .milliseconds(500), onReport: { _ in
                child.note("report")
                try await stayUntilCancelled()
            }))
            launch.addTask("work") { child.note("work") }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["report", "work"])
    }
}
