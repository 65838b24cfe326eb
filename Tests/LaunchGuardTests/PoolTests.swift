import Glibc
@testable import LaunchGuard
import Synchronization
import Testing
import TestSupport

/// The threads of closures: threads of LaunchGuard, the main actor, other actors, never a pool that
/// other code has blocked.
@Suite(.timeLimit(.minutes(10))) struct PoolTests {
    private actor Cache {
        private(set) var size = 3

        func clear() { size = 0 }
    }

    /// Block every thread that the concurrency pool can have, until no further thread comes.
    static func blockThePool() {
        let blocked = Log()
        for _ in 1...4 * sysconf(Int32(_SC_NPROCESSORS_ONLN)) {
            Task.detached {
                blocked.add("blocked")
                stay()
            }
        }
        var before = -1
        while blocked.all.count > before {
            before = blocked.all.count
            passTime(.milliseconds(200), why: "nothing says that no further thread of the pool comes")
        }
    }

    @Test func aBlockedPoolHoldsUpNeitherRepairsNorTasks() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { @MainActor [directory = scene.directory as String] in
            let child = Child(directory)
            let cache = Cache()
            let launch = try child.start().launch("main", .init(
                reportAfter: 1, overrun: .init(grace: .zero, course: .nextAttempt), onReport: { child.note("report \($0.streak)") }))
            Self.blockThePool()
            // So long that a busy machine has begun it.
            launch.addRepair("hanging", impact: 10, timeout: .seconds(5), attempts: 1) {
                child.note("hanging")
                stay()
            }
            launch.addRepair("clear cache", impact: 20) {
                await cache.clear()
                async let size = cache.size
                child.note("clear \(await size)")
            }
            launch.addTask("work") {
                await Task.yield()
                await withTaskGroup { group in
                    for _ in 1...3 { group.addTask { await cache.clear() } }
                }
                child.note("work")
            }
            // A waiting thread returns only when Dispatch has a thread for it.
            launch.addTask("end") { _exit(0) }
            try await launch.begin().get()
        }
        #expect(scene.journal == ["report 2", "hanging", "clear 0", "work"])
    }

    @Test func aMainActorThatIsBlockedLetsRepairsTimeOutAndTheLaunchGoOn() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { @MainActor [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main", .init(reportAfter: 9, overrun: .init(grace: .zero)))
            launch.addRepair("ask", impact: 10, timeout: .milliseconds(50), attempts: 1) { @MainActor in
                try Task.checkCancellation()
                child.note("asked")
            }
            launch.addTask("work") { child.note("work") }
            Task.detached { try await launch.begin().get() }
            // It blocks the main actor.
            func wait() throws { try blockUntil("the task runs") { child.hasNote("work") } }
            try wait()
            #expect(launch.mode == .safe)
        }
        #expect(scene.journal == ["work"])
    }

    @Test @MainActor func everythingMayRunOnTheMainActorThatWaits() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(reportAfter: 1, repairAfter: 1, window: .zero, onReport: { @MainActor batch in
            MainActor.assertIsolated()
            log.add("report \(batch.streak)")
        }))
        launch.addRepair("mend", impact: 1) { @MainActor in
            MainActor.assertIsolated()
            try await resumeByClock()
            log.add("mend")
        }
        launch.addTask("work") { @MainActor in
            MainActor.assertIsolated()
            log.add("work")
        } onProtect: { @MainActor in log.add("protect") } onEvent: { @MainActor in log.add($0) }
        try await launch.begin().get()
        simulation.end(.crash)
        try await launch.begin().get()
        await launch.signal("active")
        #expect(log.all == ["work", "report 1", "protect", "mend", "work", "active"])
    }

    @Test func closuresDoNotRunOnThePool() async throws {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        let threads = Mutex<[pthread_t]>([])
        for key in ["a", "b"] {
            launch.addTask(key) {
                threads.withLock { $0.append(pthread_self()) }
                try await resumeByClock()
                threads.withLock { $0.append(pthread_self()) }
            }
        }
        try await launch.begin().get()
        #expect(Set(threads.withLock { $0 }).count == 1)
    }

    @Test func aJobThatComesWhenTheTaskHasEndedRunsAllTheSame() async throws {
        let thread = OwnThread()
        #expect(try await onThread { _ in thread.run(in: nil, { .ok }, begin: { _ in }) } == .ok)
        #expect(await Task.detached(executorPreference: thread) { 7 }.value == 7)
    }

    /// An actor that a closure used serves others after the end of the closure's thread.
    @Test func actorsOutliveTheThreadsThatServedThem() async throws {
        let cache = Cache()
        for _ in 1...100 {
            let simulation = try Simulation()
            let launch = simulation.session.launch("main", .init(window: .zero))
            launch.addTask("work") { await cache.clear() }
            async let others: Void = withTaskGroup { group in
                for _ in 1...20 { group.addTask { await cache.clear() } }
            }
            try await launch.begin().get()
            await others
            simulation.close()
        }
        #expect(await cache.size == 0)
    }
}
