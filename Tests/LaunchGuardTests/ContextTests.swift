@testable import LaunchGuard
import Testing
import TestSupport

/// The context that the closures of a launch inherit from the caller of `begin()`.
@Suite(.timeLimit(.minutes(10))) struct ContextTests {
    @TaskLocal static var trace = "none"

    /// Priority and task-locals of the calling task.
    private static var context: String { "\(trace) \(Task.currentPriority.rawValue)" }

    @Test(arguments: [TaskPriority.low, .high])
    func closuresHaveThePriorityAndTheTaskLocalsOfTheCaller(_ priority: TaskPriority) async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(repairAfter: 1, window: .zero, onReport: { _ in log.add("report \(Self.context)") }))
        launch.addRepair("mend", impact: 1, attempts: 2) {
            async let child = Self.context
            log.add("repair \(await child)")
            if log.all.count < 5 { throw Failure(description: "once more") }
        }
        launch.addTask("work") {
            try await resumeByClock()
            log.add("task \(Self.context)")
        } onProtect: { log.add("protect \(Self.context)") }
        for trace in ["first", "second"] {
            try await Task(priority: priority) {
                try await Self.$trace.withValue(trace) { try await launch.begin().get() }
            }.value
            simulation.end(.crash)
        }
        let first = "first \(priority.rawValue)", second = "second \(priority.rawValue)"
        #expect(log.all == ["task \(first)", "report \(second)", "protect \(second)", "repair \(second)", "repair \(second)", "task \(second)"])
    }

    @Test func aSecondBeginDoesNotChangeTheContext() async throws {
        let log = Log()
        let launch = try Simulation().session.launch("main", .init(window: .zero))
        launch.addTask("first") {
            let error = await #expect(throws: LaunchGuardError.self) {
                try await Self.$trace.withValue("second") { try await launch.begin().get() }
            }
            #expect(error?.code == .state)
        }
        launch.addTask("second") { log.add(Self.trace) }
        try await Self.$trace.withValue("first") { try await launch.begin().get() }
        #expect(log.all == ["first"])
    }

    /// Several threads may ask one context at once.
    @Test func aContextServesManyThreads() async throws {
        let log = Log()
        let context = Self.$trace.withValue("caller") { CallerContext() }
        try await withThrowingTaskGroup { group in
            for _ in 1...50 {
                group.addTask {
                    try await onThread { _ in
                        OwnThread().run(in: context, { log.add(Self.trace); return .ok }, begin: { _ in })
                    }
                }
            }
            for try await code in group { #expect(code == .ok) }
        }
        context.end()
        #expect(context.makeTask(on: OwnThread()) {} == nil)
        #expect(log.all == Array(repeating: "caller", count: 50))
    }
}
