import Synchronization

/// Priority and task-locals of the task that makes the object, for tasks that threads of the core
/// make later. Swift hands both on only from a task that runs. A task of the caller therefore waits
/// here, and runs for a moment on the thread that asks: it needs no thread of its own, and none of
/// the concurrency pool. Call ``end()`` once no further task is needed.
final class CallerContext: TaskExecutor {
    private struct Request: Sendable {
        let executor: OwnThread
        let body: @Sendable () async -> Void
    }

    private struct State {
        /// Jobs of the waiting task.
        var jobs: [UnownedJob] = []
        var waiting: CheckedContinuation<Void, Never>?
        var request: Request?
        var made: Task<Void, Never>?
    }

    /// Whether the caller was cancelled while it waited in `begin()`, and the launch is to know.
    let isCancelled = Atomic(false)
    /// Whether a closure failed for this reason.
    let isCutShort = Atomic(false)

    /// One thread at a time asks.
    private let turn = Mutex(())
    private let state = Mutex(State())

    init() {
        Task(executorPreference: self) { await self.serve() }
    }

    /// A task with the context of the caller; `nil` after ``end()``.
    func makeTask(on executor: OwnThread, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        ask(Request(executor: executor, body: body))
    }

    func end() { _ = ask(nil) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    private func ask(_ request: Request?) -> Task<Void, Never>? {
        turn.withLock { _ in
            let waiting = state.withLock { state in
                state.request = request
                return state.waiting.take()
            }
            waiting?.resume()
            while let job = state.withLock({ $0.jobs.popLast() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
            return state.withLock { $0.made.take() }
        }
    }

    private func serve() async {
        while let request = state.withLock({ $0.request.take() }) {
            let task = Task(executorPreference: request.executor, operation: request.body)
            state.withLock { $0.made = task }
            await withCheckedContinuation { continuation in state.withLock { $0.waiting = continuation } }
        }
    }
}
