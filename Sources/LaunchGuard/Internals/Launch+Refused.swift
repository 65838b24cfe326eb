import Synchronization

/// Repairs and tasks that the core refused: the program starts anyway.
extension Launch {
    /// Note the error. A refused task runs all the same, after the others.
    func refuse(_ error: LaunchGuardError, task: LaunchTask? = nil) {
        hooks.log(.error, error.description)
        state.withLock { state in
            if state.problem == nil { state.problem = error }
            if let task, error.code != .state { state.refusedTasks.append(task) }
        }
    }

    /// Run the refused tasks on the thread of the launch: now or, when the others wait in custody,
    /// after them.
    func runRefusedTasks() {
        let tasks = state.withLock { state in
            defer { if !hooks.isRepeated { state.refusedTasks = [] } }
            return state.refusedTasks
        }
        guard !tasks.isEmpty else { return }
        let run = { @Sendable [hooks] in
            for task in tasks { _ = hooks.runTask(task) }
        }
        guard core.wait(milliseconds: 0) == .timeout else { return run() }
        startThread { [core] in
            if core.wait(milliseconds: .max) == .ok { run() }
        }
    }
}
