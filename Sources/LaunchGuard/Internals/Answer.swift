import Glibc
import Synchronization

/// An outcome that one thread waits for and a task gives. Blocks the thread that waits: never use it on the concurrency pool.
@safe
final class Answer: Sendable {
    private let outcome = Mutex(LaunchGuardError.Code.failed)
    private nonisolated(unsafe) let given: UnsafeMutablePointer<sem_t>

    init() {
        unsafe given = .allocate(capacity: 1)
        unsafe sem_init(given, 0, 0)
    }

    deinit {
        unsafe sem_destroy(given)
        unsafe given.deallocate()
    }

    func give(_ code: LaunchGuardError.Code) {
        outcome.withLock { $0 = code }
        unsafe sem_post(given)
    }

    func wait() -> LaunchGuardError.Code {
        while unsafe sem_wait(given) != 0 {}  // Only a signal handler ends the wait early.
        return outcome.withLock { $0 }
    }
}
