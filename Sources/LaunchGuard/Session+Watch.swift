internal import CThread
import Synchronization

extension Session {
    /// Give the main actor a heartbeat. The program hangs when the main actor was served and then
    /// does not serve its jobs for longer than ``Session/HangThresholds``. Call it once, early;
    /// more calls change nothing.
    ///
    /// About twice a second a job goes into the queue of the main actor, which is the main queue of
    /// Dispatch. The watch begins when this job runs for the first time: in a program that never
    /// serves the main queue nothing is watched. With ``Session/HangThresholds`` below a second the
    /// watch would report hangs that are none.
    ///
    /// - Where the main thread serves the queue, as in `RunLoop.main.run()` or in the loop of a
    ///   toolkit, the heartbeat is the main thread's own, and a hang has its stack.
    /// - In a program whose `main` is asynchronous, or that calls `dispatchMain()`, the main thread
    ///   sleeps for good on Linux, and threads of the pool take turns with the queue. The heartbeat
    ///   is then that of a thread named "main actor", which waits for the job. The thread that
    ///   blocks the queue is among the stacks of all threads.
    ///
    /// A main thread that serves the queue for a while and then never again, because it went on to
    /// other work, cannot be distinguished from a hang. The watch does not keep the process alive.
    public func watchMainActor() {
        watchMainActor(every: .milliseconds(500)) { [core] in core.heartbeat() }
    }

    /// - Parameter beat: one heartbeat of the calling thread; false when no further one is
    ///   possible.
    package func watchMainActor(every interval: Duration, beat: @escaping @Sendable () -> Bool) {
        guard isMainActorWatched.exchange(true, ordering: .relaxed) == false else { return }
        _ = Watch("main actor", every: interval, beat: beat) { answer in
            Task { @MainActor in
                guard lg_shim_is_main_thread() != 0 else { return answer(.hasNot) }
                answer(beat() ? .hasBeaten : .isOver)
            }
        }
    }

    /// Give the concurrency pool a heartbeat. The program hangs when the pool does not run a new
    /// task for longer than ``Session/HangThresholds``, because each of its threads is blocked or
    /// busy. Call it once, early; more calls change nothing. A `LaunchGuardService` calls it.
    ///
    /// A thread named "task pool" sends the heartbeats, and takes one of the 16 places of threads
    /// that are watched. About twice a second it gives the pool an empty task, and waits until
    /// that has run. Its first heartbeat comes before the first task, so that a pool that is
    /// blocked from the start hangs too. With ``Session/HangThresholds`` below a second the watch
    /// would report hangs that are none. The threads that block the pool are among the stacks of
    /// all threads.
    ///
    /// The call never fails. Where no heartbeat is possible, as without a run file or with 16
    /// threads watched already, nothing is watched. The watch ends with the session, and does not
    /// keep the process alive.
    public func watchTaskPool() { core.watchTaskPool() }
}

extension CoreSession {
    /// A process has one session that watches.
    private static let isTaskPoolWatched = Atomic(false)

    func watchTaskPool() {
        guard !isSimulated, Self.isTaskPoolWatched.exchange(true, ordering: .relaxed) == false else { return }
        _ = Watch("task pool", every: .milliseconds(500), beatsFirst: true, beat: { heartbeat() }) { answer in
            Task.detached { answer(.hasNot) }
        }
    }
}
