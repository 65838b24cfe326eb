/// One task of a launch, for ``LaunchGuard/LaunchGuard/Launch/addTasks(_:)``. C: `lg_task`.
///
/// ```swift
/// launch.addTasks {
///     LaunchTask("open database", .essential) { try await database.open() }
///     LaunchTask("restore windows", .unsafe) { await windows.restore() }
///         .onProtect { await windows.showNotice() }
/// }
/// ```
public struct LaunchTask: Sendable {
    /// 1 to 63 bytes, unique in its context. The key is in the run file while the task runs.
    public let key: String
    /// The kind of task.
    public let flags: Flags

    let run: @Sendable () async throws -> Void
    var protect: (@Sendable () async throws -> Void)?
    var event: (@Sendable (String) async throws -> Void)?

    /// Make a task. It has no effect before it is added to a launch.
    public init(_ key: String, _ flags: Flags = [], run: @escaping @Sendable () async throws -> Void) {
        self.key = key
        self.flags = flags
        self.run = run
    }

    /// What the launch needs of the task once it has had its turn.
    var spent: LaunchTask {
        var task = LaunchTask(key, flags) {}
        task.event = event
        return task
    }

    /// The same task with a protect action: work that keeps the program useful while the launch is
    /// held and the task waits, a notice on the screen for example. Repairs wait for the action, at
    /// most until the hold's deadline. The action of a task that is added while the launch is held
    /// runs at once, and nothing waits for it.
    public func onProtect(_ body: @escaping @Sendable () async throws -> Void) -> LaunchTask {
        var task = self
        task.protect = body
        return task
    }

    /// The same task with a closure for the life-cycle events of
    /// ``LaunchGuard/LaunchGuard/Launch/signal(_:to:)``.
    public func onEvent(_ body: @escaping @Sendable (_ event: String) async throws -> Void) -> LaunchTask {
        var task = self
        task.event = body
        return task
    }
}
