internal import CThread
internal import LaunchGuardPlatform
import Synchronization

/// Watches something that has no thread of its own, by a thread that asks again and again whether
/// it is served. That thread has a heartbeat from the first answer on, and none without an answer.
/// The thread is detached: it does not keep the process alive.
@safe
final class Watch: Sendable {
    /// The kind of answer: from a thread that has a heartbeat of its own and sent it, or from
    /// another thread, for which the thread of the watch sends one.
    enum Answer { case hasBeaten, hasNot, isOver }

    private let isOver = Atomic(false)
    private let hasBeaten = Atomic(false)
    private nonisolated(unsafe) let answers: UnsafeMutablePointer<lg_shim_semaphore>

    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - beatsFirst: one heartbeat comes before the first question: what is watched is always
    ///     served.
    ///   - beat: one heartbeat of the thread; false when no further one is possible.
    ///   - ask: receives a function to call with the answer, once, from any thread.
    init(
        _ name: String, every interval: Duration, beatsFirst: Bool = false, beat: @escaping @Sendable () -> Bool,
        ask: @escaping @Sendable (@escaping @Sendable (Answer) -> Void) -> Void
    ) {
        unsafe answers = .allocate(capacity: 1)
        unsafe lg_shim_semaphore_init(answers)
        startThread { [self] in
            unsafe lg_shim_name_thread(name)
            if beatsFirst, !beat() { return }
            while true {
                ask { [self] answer in
                    if answer == .isOver { isOver.store(true, ordering: .releasing) }
                    hasBeaten.store(answer == .hasBeaten, ordering: .relaxed)
                    unsafe lg_shim_semaphore_post(answers)
                }
                unsafe lg_shim_semaphore_wait(answers)
                if isOver.load(ordering: .acquiring) { return }
                if !hasBeaten.load(ordering: .relaxed), !beat() { return }
                var left = timespec(tv_sec: Int(interval.components.seconds), tv_nsec: Int(interval.components.attoseconds / 1_000_000_000))
                var time = left
                while unsafe nanosleep(&time, &left) != 0 { time = left }
            }
        }
    }

    deinit {
        unsafe lg_shim_semaphore_destroy(answers)
        unsafe answers.deallocate()
    }
}
