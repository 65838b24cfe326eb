extension Launch {
    /// Add a launch task: before ``begin()``, or as long as some task has not run; a task that is
    /// added then comes last. C: `lg_launch_add_task()`.
    ///
    /// Tasks run one after the other in the order of registration, and are held while a report or a
    /// repair runs. An error that a task throws is logged, and the launch goes on, unless the task
    /// is essential. A task that is refused before ``begin()`` (a key that is empty, too long or
    /// taken, options that contradict each other, more than 64 tasks) still runs, after the others,
    /// and ``problem`` gives the reason.
    ///
    /// A task that comes when all tasks have run does not run, unless it is ``TaskOptions/late``.
    /// Such a task runs at once on a thread of its own, or after one that runs; the call does not
    /// wait for it. A crash in it is a launch crash with its key, unless the launch is finished by
    /// then. After ``protect(reason:)`` it is held as any other. It does not run when an essential
    /// task failed, when the end was announced, and when the session was stopped.
    ///
    /// ```swift
    /// launch.addTask("open database", options: .essential) { try await database.open() }
    /// launch.addTask("restore windows") {
    ///     await windows.restore()
    /// } onProtect: {
    ///     await windows.showNotice()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - key: 1 to 63 bytes, unique in its context. The key is in the run file while the task
    ///     runs, so that the next start knows in which task a crash happened.
    ///   - options: the kind of task.
    ///   - body: a part of the launch.
    ///   - onProtect: called when the launch becomes held and the task has not run yet: work that
    ///     keeps the program useful while the task waits, a notice on the screen for example.
    ///     Repairs wait for the closure, at most until the hold's deadline. That of a task which is
    ///     added while the launch is held runs at once, and nothing waits for it.
    ///   - onEvent: called for life-cycle events; see ``signal(_:to:)``.
    public func addTask(
        _ key: String,
        options: TaskOptions = [],
        _ body: @escaping @Sendable () async throws -> Void,
        onProtect: (@Sendable () async throws -> Void)? = nil,
        onEvent: (@Sendable (_ event: String) async throws -> Void)? = nil
    ) {
        let task = LaunchTask(key: key, options: options, run: body, protect: onProtect, event: onEvent)
        do throws(LaunchGuardError) {
            try core.addTask(task, options.subtracting(.late), hooks)
        } catch {
            guard error.code == .state, options.contains(.late), startThread({ self.addLate(task) }) == 0 else {
                return refuse(error.naming("task", key), task: task)
            }
        }
    }

    /// Blocks while the task runs.
    private func addLate(_ task: LaunchTask) {
        do throws(LaunchGuardError) {
            try core.addTask(task, task.options, hooks)
        } catch {
            refuse(error.naming("task", task.key), task: task)
        }
    }

    /// Leave out a task, as the configuration of the program says. In its turn the task is left
    /// out. It gets no protect action. A breadcrumb and the event "omitted" in the timeline
    /// distinguish it from a task that LaunchGuard left out. The call holds for an essential task,
    /// too. C: `lg_launch_leave_out()`.
    ///
    /// - Parameter key: of a task, or of one that is added later.
    /// - Returns: false when the task runs or has run, when the key is empty or longer than 63
    ///   bytes, and when 64 keys are left out.
    @discardableResult
    public func leaveOut(_ key: String) -> Bool { core.leaveOut(key) }

    /// Run all held tasks only by ``replay(_:)``, one by one: for a program that wants to start
    /// itself again step by step after a repair. The option ``TaskOptions/replayByKey`` is the same
    /// for single tasks. C: `lg_launch_replay_by_key()`.
    ///
    /// After a hold, the tasks that wait for no key run first, by themselves and in the order of
    /// registration. The others run after them, in the order of the calls of ``replay(_:)``. The
    /// launch waits for these calls at most until the hold's deadline; then it runs the remaining
    /// tasks. A launch that was not held waits for no key.
    ///
    /// - Returns: false after ``begin()``, when the call has no effect.
    @discardableResult
    public func replayByKey() -> Bool { core.replayByKey() }

    /// Let a task run that waits for its key after a repair. Several such tasks run in the order of
    /// these calls. C: `lg_launch_replay()`.
    ///
    /// - Parameter key: of the task; `nil` for all that wait for their keys, in the order of
    ///   registration.
    /// - Returns: false when there is no such task, while a repair is needed or runs, before
    ///   ``begin()``, and when the task, or all of them, wait for no key.
    @discardableResult
    public func replay(_ key: String? = nil) -> Bool { core.replay(key) }

    /// Send a life-cycle event to the tasks, for example "became-active", and wait until their
    /// closures have ended. C: `lg_launch_signal()`.
    ///
    /// A task that has run gets the event at once. A task that has not run gets the last event as
    /// soon as it has run. A task that was left out or failed gets none. Events keep their order
    /// when each call is awaited before the next. An error that a closure throws is logged.
    /// Cancelling the caller has no effect.
    ///
    /// - Parameters:
    ///   - event: 1 to 63 bytes.
    ///   - key: of one task; `nil` for all, in the order of registration.
    /// - Returns: false when there is no such task, when the event is empty or too long, and when
    ///   no thread can be made.
    @discardableResult
    nonisolated(nonsending) public func signal(_ event: String, to key: String? = nil) async -> Bool {
        (try? await onThread { [core] _ in core.signal(event, to: key) }) ?? false
    }

    /// The state of a task; `nil` when no task has this key. C: `lg_launch_task_state()`.
    public func state(ofTask key: String) -> TaskState? { core.state(ofTask: key) }
}
