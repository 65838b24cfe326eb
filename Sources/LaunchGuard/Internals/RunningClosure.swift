import Synchronization

/// A closure of a launch that runs, for the calls inside it. The tasks that it makes inherit it,
/// but not the detached ones.
final class RunningClosure: Sendable {
    @TaskLocal private static var current: RunningClosure?

    private let hooks: ObjectIdentifier
    /// The closure of another launch in which this launch was begun.
    private let outer: RunningClosure?
    private let isOver = Atomic(false)

    private init(of hooks: LaunchHooks) {
        self.hooks = ObjectIdentifier(hooks)
        outer = Self.current
    }

    static func run(of hooks: LaunchHooks, _ body: @Sendable () async throws -> Void) async throws {
        let closure = RunningClosure(of: hooks)
        defer { closure.isOver.store(true, ordering: .releasing) }
        try await $current.withValue(closure, operation: body)
    }

    /// Whether a closure of the launch runs and the calling task belongs to it.
    static func isInside(_ hooks: LaunchHooks) -> Bool {
        var closure = current
        while let running = closure {
            if running.hooks == ObjectIdentifier(hooks), !running.isOver.load(ordering: .acquiring) { return true }
            closure = running.outer
        }
        return false
    }
}
