import Foundation
import Glibc
import LaunchGuard
import Testing
import TestSupport

/// The ladder of repairs.
@Suite struct RepairTests {
    /// A scene whose next start needs a repair.
    private func crashedScene() async throws -> Scene {
        let scene = try Scene()
        await scene.crashTwice()
        return scene
    }

    @Test func theLeastDisruptiveComesFirstAndTheNextOnlyAfterAllAttempts() async throws {
        let scene = try await crashedScene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addRepair("heavy", impact: 90) { child.note("heavy") }
            launch.addRepair("light", impact: 10, attempts: 3) {
                child.note("light")
                throw Failure(description: "cannot be mended")
            }
            launch.addTask("work") { child.note("work") }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["light", "light", "light", "heavy", "work"])
        let failures = try scene.lastLog().filter { $0.contains("repair \"light\" failed: cannot be mended") }
        #expect(failures.count == 3)
    }

    @Test func theNextRepairPutsBackWhatTheFirstOneChanged() async throws {
        let scene = try await crashedScene()
        let file = scene.directory + "/settings", start = Date()
        try "old".write(toFile: file, atomically: false, encoding: .utf8)
        await #expect(processExitsWith: .success) { [directory = scene.directory as String, file = file as String] in
            let child = Child(directory)
            #expect(throws: LaunchGuardError.self) { try Launch.keep(file) }  // in no repair
            let launch = try child.start().launch("main")
            launch.addRepair("change", impact: 10, attempts: 1) {
                try Launch.keep(file)
                try "new".write(toFile: file, atomically: false, encoding: .utf8)
                throw Failure(description: "no help")
            }
            launch.addRepair("undo", impact: 90) {
                let read = { try String(contentsOfFile: file, encoding: .utf8) }
                child.note(try read())
                try Launch.undo()
                child.note(try read())
            }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["new", "old"])
        let kept = try Launch.keptFiles(of: "main", stateDirectory: scene.directory + "/state")
        #expect(kept.map { "\($0.kind) \($0.bytes)" } == ["file 3"])
        let copied = try #require(kept.first).copied.sinceEpoch / .seconds(1)
        #expect(start.timeIntervalSince1970 - 1 <= copied && copied <= Date().timeIntervalSince1970 + 1)
        try Launch.undo("main", stateDirectory: scene.directory + "/state")
    }

    @Test func theFirstSuccessEndsTheLadder() async throws {
        let scene = try await crashedScene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addRepair("light", impact: 10) {
                if !child.hasNote("first attempt") {
                    child.note("first attempt")
                    throw Failure(description: "once more")
                }
                child.note("second attempt")
            }
            launch.addRepair("heavy", impact: 90) { child.note("heavy") }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["first attempt", "second attempt"])
    }

    /// A launch after a crash, whose repairs time out as simulated time passes.
    private func crashed(_ configuration: Launch.Configuration = .init(repairAfter: 1, window: .zero)) async throws -> (Simulation, Launch) {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", configuration)
        try await launch.begin().get()
        simulation.end(.crash)
        return (simulation, launch)
    }

    @Test func aRepairThatTakesTooLongIsCancelledAndTheNextOneTried() async throws {
        let log = Log(), (simulation, launch) = try await crashed()
        launch.addRepair("slow", impact: 10, attempts: 1) {
            log.add("slow")
            do {
                try await stayUntilCancelled()
            } catch {
                log.add("cancelled")
                throw error
            }
        }
        launch.addRepair("quick", impact: 20) {
            try await log.wait(for: "cancelled")
            log.add("quick")
        }
        launch.addTask("work") { log.add("work") }
        async let outcome = launch.begin()
        try await log.wait(for: "slow")
        simulation.pass(.seconds(31))
        try await outcome.get()
        #expect(log.take() == ["slow", "cancelled", "quick", "work"])
    }

    @Test func theLastRepairIsCancelledWhenTheLaunchGoesOn() async throws {
        let log = Log(), (simulation, launch) = try await crashed()
        launch.addRepair("slow", impact: 10, attempts: 1) {
            log.add("slow")
            try? await stayUntilCancelled()
            log.add("cancelled \(Task.isCancelled)")
        }
        async let outcome = launch.begin()
        try await log.wait(for: "slow")
        simulation.pass(.seconds(31))
        try await outcome.get()
        try await log.wait(for: "cancelled true")
    }

    @Test func aSuccessThatComesTooLateHasNoEffect() async throws {
        let log = Log(), (simulation, launch) = try await crashed(.init(repairAfter: 1, window: .zero, overrun: .init(grace: .zero, course: .nextAttempt)))
        launch.addRepair("late", impact: 10, attempts: 2) {
            log.add("late")
            // Ignores its cancellation.
            try await log.wait(for: "work")
            log.add("too late")
        }
        launch.addTask("work") { log.add("work") }
        launch.addTask("wait") {
            try await waitUntil("both attempts end") { log.all.filter { $0 == "too late" }.count == 2 }
        }
        async let outcome = launch.begin()
        for attempt in 1...2 {
            try await waitUntil("attempt \(attempt) begins") { log.all.count == attempt }
            simulation.pass(.seconds(31))
        }
        try await outcome.get()
        #expect(log.take() == ["late", "late", "work", "too late", "too late"])
        #expect(launch.mode == .safe)
        #expect(launch.info?.attempts == 0)
    }

    @Test func whenNoRepairHelpsTheLaunchGoesOn() async throws {
        let scene = try await crashedScene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addRepair("hopeless", impact: 10, attempts: 1) { throw Failure(description: "no") }
            launch.addTask("work") { child.note("work") }
            try await launch.begin().get()
            #expect(launch.status == .launching)
        }
        #expect(scene.journal == ["work"])
    }

    @Test func aRefusedRepairIsNamedAndTheOthersWork() async throws {
        let scene = try await crashedScene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            func problem(_ context: String, _ add: (Launch) -> Void) throws -> LaunchGuardError.Code? {
                let launch = session.launch(context)
                add(launch)
                return launch.problem?.code
            }
            let session = try child.start()
            #expect(try problem("1") { $0.addRepair("", impact: 1) {} } == .option)
            #expect(try problem("2") { $0.addRepair("a\0b", impact: 1) {} } == .option)
            #expect(try problem("3") { $0.addRepair("a", impact: 101) {} } == .option)
            #expect(try problem("4") { $0.addRepair("a", impact: -1) {} } == .option)
            #expect(try problem("5") { $0.addRepair("a", impact: 1, timeout: .zero) {} } == .option)
            #expect(try problem("6") { $0.addRepair("a", impact: 1, timeout: .seconds(86_401)) {} } == .option)
            #expect(try problem("7") { $0.addRepair("a", impact: 1, attempts: 0) {} } == .option)
            #expect(try problem("8") { $0.addRepair("a", impact: 1, attempts: 101) {} } == .option)
            #expect(try problem("9") { $0.addRepair("a", impact: 0, timeout: .nanoseconds(1), attempts: 100) {} } == nil)
            #expect(try problem("10") { for number in 1...17 { $0.addRepair("\(number)", impact: 1) {} } } == .limit)

            let launch = session.launch("main")
            launch.addRepair("mend", impact: 10) { child.note("first") }
            #expect(launch.problem == nil)
            launch.addRepair("mend", impact: 5) { child.note("second") }
            #expect(launch.problem?.code == .duplicate)
            #expect(launch.problem?.message.contains("repair \"mend\"") == true)
            try await launch.begin().get()
        }
        #expect(scene.journal == ["first"])
    }
}
