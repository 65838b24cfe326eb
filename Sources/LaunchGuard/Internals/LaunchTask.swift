/// One task of a launch, from ``Launch/addTask(_:options:_:onProtect:onEvent:)``.
struct LaunchTask: Sendable {
    let key: String
    let options: Launch.TaskOptions
    let run: @Sendable () async throws -> Void
    var protect: (@Sendable () async throws -> Void)?
    var event: (@Sendable (String) async throws -> Void)?

    /// The part of the task that the launch needs after the task's turn.
    var spent: LaunchTask { LaunchTask(key: key, options: options, run: {}, event: event) }
}
