import LaunchGuard
import Synchronization
import Testing
import TestSupport

/// A caller that is cancelled, and closures that wait for their own launch.
@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    /// A launch that crashed once, so that it is repaired.
    private static func crashed(
        _ configuration: Launch.Configuration, _ prepare: (Launch) -> Void
    ) async throws -> Launch {
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", configuration.with(repairAfter: 1, window: .zero))
        try await launch.begin().get()
        simulation.end(.crash)
        prepare(launch)
        return launch
    }

    /// Begin the launch, and cancel the caller at this entry of the log.
    private static func begin(_ launch: Launch, cancelAt entry: String, _ log: Log) async throws -> LaunchGuardError? {
        let caller = Task {
            do throws(LaunchGuardError) {
                try await launch.begin().get()
                return nil as LaunchGuardError?
            } catch {
                return error
            }
        }
        try await log.wait(for: entry)
        caller.cancel()
        log.add("cancelled")
        return await caller.value
    }

    private static func waitLong(_ log: Log) async throws {
        log.add("waits")
        do {
            try await stayUntilCancelled()
        } catch {
            log.add("ends early")
            throw error
        }
    }

    @Test func aCancelledCallerEndsTheTaskThatRunsWherePolicyForwards() async throws {
        let log = Log()
        let launch = try Simulation().session.launch("main", .init(window: .zero, cancellation: .forwarded))
        launch.addTask("first") { try await Self.waitLong(log) }
        launch.addTask("second") { log.add("second") }
        let error = try await Self.begin(launch, cancelAt: "waits", log)
        #expect(error?.code == .cancelled)
        #expect(error?.failedTask == nil)
        #expect(Set(log.all) == ["waits", "cancelled", "ends early"])
        #expect(launch.state(ofTask: "second") == .failed)
        launch.addTask("late", options: .late) { log.add("late") }
        try await log.wait(for: "late")
    }

    @Test func theEssentialTaskThatWasCancelledIsNamed() async throws {
        let log = Log()
        let launch = try Simulation().session.launch("main", .init(window: .zero, cancellation: .forwarded))
        launch.addTask("first", options: .essential) { try await Self.waitLong(log) }
        let error = try await Self.begin(launch, cancelAt: "waits", log)
        #expect(error?.code == .cancelled)
        #expect(error?.failedTask == "first")
        #expect(error?.underlying is CancellationError)
    }

    @Test func byDefaultACancelledCallerChangesNothing() async throws {
        let log = Log()
        let launch = try Simulation().session.launch("main", .init(window: .zero))
        launch.addTask("first") {
            log.add("first")
            try await log.wait(for: "cancelled")
            log.add("\(Task.isCancelled)")
        }
        launch.addTask("second") { log.add("second") }
        #expect(try await Self.begin(launch, cancelAt: "first", log) == nil)
        #expect(log.all == ["first", "cancelled", "false", "second"])
    }

    @Test func aTaskThatIgnoresItsCancellationHasNotFailed() async throws {
        let log = Log()
        let launch = try Simulation().session.launch("main", .init(window: .zero, cancellation: .forwarded))
        launch.addTask("only") {
            log.add("only")
            try await waitUntil("the task is cancelled") { Task.isCancelled }
        }
        #expect(try await Self.begin(launch, cancelAt: "only", log) == nil)
    }

    @Test func aCancelledCallerPutsTheRepairOff() async throws {
        let log = Log()
        let launch = try await Self.crashed(.init(cancellation: .forwarded)) { launch in
            launch.addRepair("mend", impact: 1) { try await Self.waitLong(log) }
            launch.addRepair("rebuild", impact: 2) { log.add("rebuild") }
            launch.addTask("work") { log.add("work") }
        }
        #expect(try await Self.begin(launch, cancelAt: "waits", log)?.code == .cancelled)
        #expect(Set(log.all) == ["waits", "cancelled", "ends early"])
        #expect(launch.info?.attempts == 1)
        #expect(launch.info?.skips == 1)
        #expect(launch.mode == .normal)
    }

    @Test func aCancelledCallerDoesNotWaitForConsent() async throws {
        let log = Log()
        let launch = try await Self.crashed(.init(repairsAutomatically: false, cancellation: .forwarded)) { launch in
            launch.addRepair("mend", impact: 1) { log.add("mend") }
            launch.addTask("work") { log.add("work") } onProtect: { log.add("held") }
        }
        #expect(try await Self.begin(launch, cancelAt: "held", log)?.code == .cancelled)
        #expect(log.all == ["held", "cancelled"])
    }

    @Test func aCallerThatIsCancelledBeforeTheCallBeginsNothing() async throws {
        let launch = try Simulation().session.launch("main", .init(window: .zero, cancellation: .forwarded))
        let caller = Task {
            while !Task.isCancelled { await Task.yield() }
            try await launch.begin().get()
        }
        caller.cancel()
        let error = await #expect(throws: LaunchGuardError.self) { try await caller.value }
        #expect(error?.code == .cancelled)
        try await launch.begin().get()
    }

    @Test func aClosureCannotWaitForItsOwnLaunch() async throws {
        let log = Log()
        @Sendable func wait(for launch: Launch, _ name: String) async {
            let error = await #expect(throws: LaunchGuardError.self) { try await launch.waitUntilLaunched().get() }
            log.add("\(name) \(error?.code.description ?? "")")
        }
        let prepared = Mutex<Launch?>(nil)
        let launch = try await Self.crashed(.init(onReport: { _ in await wait(for: prepared.withLock(\.self)!, "report") })) { launch in
            prepared.withLock { $0 = launch }
            launch.addRepair("mend", impact: 1) { [weak launch] in await wait(for: launch!, "repair") }
            launch.addTask("work") { [weak launch] in
                await wait(for: launch!, "task")
                let launch = launch!
                await Task { await wait(for: launch, "task of the task") }.value
                let other = try Simulation().session.launch("other", .init(window: .zero))
                other.addTask("work") { await wait(for: launch, "other launch") }
                try await other.begin().get()
                try await other.waitUntilLaunched().get()
            } onProtect: { [weak launch] in await wait(for: launch!, "protect") }
        }
        try await launch.begin().get()
        #expect(log.all == ["report", "protect", "repair", "task", "task of the task", "other launch"].map { $0 + " state" })
    }

    @Test func aTaskThatOutlivesItsClosureWaits() async throws {
        let log = Log()
        let launch = try Simulation().session.launch("main", .init(window: .zero))
        launch.addTask("first") {
            Task {
                try await log.wait(for: "second")
                do throws(LaunchGuardError) { try await launch.waitUntilLaunched().get() } catch { log.add("\(error)") }
                log.add("launched")
            }
        }
        launch.addTask("second") {
            log.add("second")
            passTime(.milliseconds(50), why: "the other task waits until this one is over")
            log.add("over")
        }
        try await launch.begin().get()
        try await log.wait(for: "launched")
        #expect(log.all == ["second", "over", "launched"])
    }
}
