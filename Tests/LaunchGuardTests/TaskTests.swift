import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// Launch tasks in custody.
@Suite struct TaskTests {
    @Test func tasksRunOneAfterTheOtherInTheOrderOfRegistration() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            for number in 1...5 {
                launch.addTask("task \(number)") {
                    child.note("\(number) begins")
                    for _ in number..<5 { await Task.yield() }
                    child.note("\(number) ends")
                }
            }
            try await launch.begin().get()
            child.note("begun")
        }
        #expect(scene.journal == (1...5).flatMap { ["\($0) begins", "\($0) ends"] } + ["begun"])
    }

    @Test func tasksAreHeldWhileARepairRuns() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addTask("work") { child.note("work") }
            launch.addRepair("mend", impact: 1) {
                #expect(!launch.finish())
                passTime(.milliseconds(200), why: "a task that is not held runs in this time")
                child.note("mended")
            }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["mended", "work"])
    }

    @Test func aTaskThatThrowsIsLoggedAndTheOthersRun() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addTask("bad") { throw Failure(description: "no disk") }
            launch.addTask("good") { child.note("good") }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["good"])
        #expect(try scene.lastLog().contains { $0.contains("task \"bad\" failed: no disk") })
    }

    @Test func aRefusedTaskRunsAfterTheOthers() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addTask("work") { child.note("first") }
            launch.addTask("work") { child.note("refused") }
            launch.addTask("more") { child.note("second") }
            #expect(launch.problem?.code == .duplicate)
            try await launch.begin().get()
            launch.addTask("late") { child.note("late") }
        }
        #expect(scene.journal == ["first", "second", "refused"])
    }

    @Test func theKeyOfTheTaskThatCrashedIsInTheRunFile() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main")
            launch.addTask("open window") {}
            launch.addTask("open database") { Child.fault() }
            try await launch.begin().get()
        }
        #expect(try scene.runs().last?.contexts?.first?.task == "open database")
    }

    @Test @MainActor func tasksMayUseTheMainActorThatWaitsForTheLaunch() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { @MainActor [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addTask("show window") { await MainActor.run { child.note("shown") } }
            try await launch.begin().get()
            child.note("begun")
        }
        #expect(scene.journal == ["shown", "begun"])
    }

    /// More launches at once than the concurrency pool has threads: the pool would stand still if
    /// begin() blocked one of them.
    @Test func beginBlocksNoThreadOfThePool() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let session = try child.start()
            let running = Log()
            try await withThrowingTaskGroup { group in
                for number in 1...16 {
                    let launch = session.launch("context \(number)")
                    launch.addTask("work") {
                        running.add("work")
                        try await waitUntil("all tasks run") { running.all.count == 16 }
                        child.note("worked")
                    }
                    group.addTask { try await launch.begin().get() }
                }
                try await group.waitForAll()
            }
        }
        #expect(scene.journal == Array(repeating: "worked", count: 16))
    }
}
