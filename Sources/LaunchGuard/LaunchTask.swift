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
    /// 1 to 63 bytes, unique in its context; it is in the run file while the task runs.
    public let key: String
    /// What kind of task it is.
    public let flags: Flags

    let run: @Sendable () async throws -> Void
    var protect: (@Sendable () async throws -> Void)?
    var event: (@Sendable (String) async throws -> Void)?

    /// Make a task; nothing happens before it is added to a launch.
    public init(_ key: String, _ flags: Flags = [], run: @escaping @Sendable () async throws -> Void) {
        self.key = key
        self.flags = flags
        self.run = run
    }

    /// The same task with a protect action: what keeps the program useful while the launch is held and the task waits, a notice on
    /// the screen for example. Repairs wait for it, at most until the hold's deadline.
    public func onProtect(_ body: @escaping @Sendable () async throws -> Void) -> LaunchTask {
        var task = self
        task.protect = body
        return task
    }

    /// The same task with a closure for life-cycle events, which ``LaunchGuard/LaunchGuard/Launch/signal(_:to:)`` tells.
    public func onEvent(_ body: @escaping @Sendable (_ event: String) async throws -> Void) -> LaunchTask {
        var task = self
        task.event = body
        return task
    }
}
