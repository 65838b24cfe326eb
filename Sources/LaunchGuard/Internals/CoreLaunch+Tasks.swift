internal import CLaunchGuard

/// The tasks of a launch. C: <launchguard/task.h>.
extension CoreLaunch {
    /// The number of a task, and the hooks that have its closures.
    private struct Custody: Sendable {
        let number: Int
        let hooks: LaunchHooks

        var task: LaunchTask? { hooks.task(number) }
    }

    /// Blocks while a late task runs.
    func addTask(_ task: LaunchTask, _ options: Launch.TaskOptions, _ hooks: LaunchHooks) throws(LaunchGuardError) {
        let key = try shortText(task.key, "key")
        let number = hooks.add(task)
        let box = unsafe Unmanaged.passRetained(Box(Custody(number: number, hooks: hooks)))
        var cTask = unsafe lg_task()
        unsafe cTask.size = UInt32(MemoryLayout<lg_task>.size)
        unsafe cTask.flags = options.rawValue
        unsafe cTask.user = box.toOpaque()
        unsafe cTask.run = { user in
            let custody = unsafe Box<Custody>.value(user)
            return lg_status(rawValue: (custody.map { $0.hooks.runTask($0.number) } ?? .argument).rawValue)
        }
        if task.protect != nil {
            unsafe cTask.protect = { user in
                guard let custody = unsafe Box<Custody>.value(user), let task = custody.task else { return }
                custody.hooks.runProtect(task)
            }
        }
        if task.event != nil {
            unsafe cTask.on_event = { event, user in
                guard let event = unsafe event, let custody = unsafe Box<Custody>.value(user), let task = custody.task else { return }
                unsafe custody.hooks.runEvent(String(cString: event), task)
            }
        }
        let status = unsafe key.withCString { key in
            unsafe cTask.key = unsafe key
            return unsafe lg_launch_add_task(pointer, &cTask)
        }
        let error = Core.error(status) {
            guard status == LG_ERR_OPTION else { return "" }
            return "options are \(options.rawValue); they must be those of Launch.TaskOptions, and essential neither suspect nor unsafe"
        }
        if let error {
            unsafe box.release()
            hooks.remove(number)
            throw error
        }
    }

    func leaveOut(_ key: String) -> Bool {
        guard isText(key) else { return false }
        return unsafe key.withCString { unsafe lg_launch_leave_out(pointer, $0) == LG_OK }
    }

    func replayByKey() -> Bool { unsafe lg_launch_replay_by_key(pointer) == LG_OK }

    func replay(_ key: String?) -> Bool {
        guard isText(key) else { return false }
        return unsafe withCString(key) { unsafe lg_launch_replay(pointer, $0) == LG_OK }
    }

    /// Blocks while the closures of the tasks run.
    func signal(_ event: String, to key: String?) -> Bool {
        guard isText(key), isText(event) else { return false }
        return unsafe withCString(key) { key in
            unsafe event.withCString { unsafe lg_launch_signal(pointer, key, $0) == LG_OK }
        }
    }

    func state(ofTask key: String) -> Launch.TaskState? {
        var state = LG_TASK_HELD
        guard isText(key), unsafe key.withCString({ unsafe lg_launch_task_state(pointer, $0, &state) }) == LG_OK else { return nil }
        return switch state {
        case LG_TASK_RUNNING: .running
        case LG_TASK_DONE: .done
        case LG_TASK_FAILED: .failed
        case LG_TASK_LEFT_OUT: .leftOut
        default: .held
        }
    }

    /// Whether C would read the whole string.
    private func isText(_ text: String?) -> Bool { text?.utf8.contains(0) != true }
}
