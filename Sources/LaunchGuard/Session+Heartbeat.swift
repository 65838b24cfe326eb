extension Session {
    /// Report that the run loop of the calling thread is alive: call it once in each round of the
    /// loop.
    ///
    /// The first call of a thread begins the watch of its run loop. From then on the program hangs
    /// when the heartbeat stays away for longer than the thresholds of ``Session/HangThresholds``.
    /// The watch then marks the hang, takes the stacks of all threads once, and leaves a
    /// breadcrumb. The next heartbeat removes the mark and leaves a breadcrumb with the length of
    /// the hang. Only time in which the process could run counts. At most 16 threads are watched.
    /// The main actor has its heartbeat from ``watchMainActor()``, the concurrency pool from
    /// ``watchTaskPool()``.
    ///
    /// A heartbeat is proof that the program survived a crash that an earlier handler took back. At
    /// most once a second the call also checks the crash handlers. A lost protection is reported in
    /// the ring log.
    public func sendHeartbeat() { _ = core.heartbeat() }

    /// Report that the run loop of the calling thread is about to wait, for any length of time. The
    /// loop is not watched until its next ``sendHeartbeat()``. A hang is over.
    public func pauseHeartbeat() { core.pauseHeartbeat() }
}
