extension LaunchGuard.Session {
    /// The run loop of the calling thread is alive: call it once round the loop.
    ///
    /// The first call of a thread opts its run loop in: from then on the program hangs when it stays away for longer than the thresholds
    /// of ``LaunchGuard/HangThresholds``. Then that is marked, the stacks of all threads are taken, once, and a breadcrumb says so; the next
    /// heartbeat takes the mark back and leaves a breadcrumb with the length. Only time that the process lived is counted. At most 16 threads are
    /// watched. The main actor has its heartbeat from ``watchMainActor()``.
    ///
    /// A crash that an earlier handler took back is known to be survived from here on, and at most once a second it looks whether the crash handlers
    /// are still what they should be; what took protection away is said in the ring log. C: `lg_heartbeat()`.
    public func heartbeat() { _ = core.heartbeat() }

    /// The run loop of the calling thread is about to wait, for as long as it takes: it is not watched until its next
    /// ``heartbeat()``. A hang is over. C: `lg_heartbeat_pause()`.
    public func heartbeatPause() { core.heartbeatPause() }
}
