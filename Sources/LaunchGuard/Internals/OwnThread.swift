internal import CThread
import Synchronization

/// Makes the thread that waits for a task the executor of that task. No part of the task then needs
/// a thread of the concurrency pool. The key of a launch task that crashes and the crashed thread
/// belong together. Code that blocks holds up nothing else.
@safe
final class OwnThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var outcome: LaunchGuardError.Code?
        var isOver = false
    }

    private let state = Mutex(State())
    private nonisolated(unsafe) let wake: UnsafeMutablePointer<lg_shim_semaphore>

    init() {
        unsafe wake = .allocate(capacity: 1)
        unsafe lg_shim_semaphore_init(wake)
    }

    deinit {
        unsafe lg_shim_semaphore_destroy(wake)
        unsafe wake.deallocate()
    }

    /// Run a body as a task on this thread, and return when the task has ended. Call it once.
    ///
    /// - Parameters:
    ///   - context: gives the task its priority and its task-locals; `nil` for a detached task.
    ///   - begin: receives the task before it starts.
    func run(
        in context: CallerContext?, _ body: @escaping @Sendable () async -> LaunchGuardError.Code, begin: (Task<Void, Never>) -> Void
    ) -> LaunchGuardError.Code {
        let whole = { @Sendable in self.end(await body()) }
        begin(context?.makeTask(on: self, whole) ?? Task.detached(executorPreference: self, operation: whole))
        return work()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOver = state.withLock { state in
            if !state.isOver { state.jobs.append(job) }
            return state.isOver
        }
        guard isOver else {
            unsafe lg_shim_semaphore_post(wake)
            return
        }
        // A job of something other than the task, which has ended: for example of an actor that the
        // task used and that now serves others.
        startThread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func end(_ outcome: LaunchGuardError.Code) {
        state.withLock { $0.outcome = outcome }
        unsafe lg_shim_semaphore_post(wake)
    }

    private func work() -> LaunchGuardError.Code {
        while true {
            unsafe lg_shim_semaphore_wait(wake)
            let job = state.withLock { state -> UnownedJob? in
                if !state.jobs.isEmpty { return state.jobs.removeFirst() }
                state.isOver = state.outcome != nil
                return nil
            }
            if let job {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            } else if let outcome = state.withLock({ $0.outcome }) {
                return outcome
            }
        }
    }
}
