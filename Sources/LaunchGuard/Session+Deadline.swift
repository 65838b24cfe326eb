extension LaunchGuard.Session {
    /// Do a job that has to be over in time, because somebody kills the program if it is not: a supervisor, a platform's limit for
    /// background work.
    ///
    /// When nine tenths of the time have passed and it has not ended it is marked as about to overrun, with the stack of the calling
    /// thread and a breadcrumb. Nothing is stopped. Time that the process was stopped, or asleep with its machine, counts too. At most 32 jobs
    /// are watched at a time; one more is done all the same. C: `lg_deadline_begin()`, `lg_deadline_end()`.
    ///
    /// - Parameters:
    ///   - name: for people, at most 63 bytes; longer is cut.
    ///   - limit: from a millisecond to a day; what lies outside counts as the nearest of them.
    public func withDeadline<Result, Failure: Error>(
        _ name: String, _ limit: Duration, _ job: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let deadline = core.beginDeadline(name, limit)
        defer { core.endDeadline(deadline) }
        return try job()
    }

    /// The same for a job that waits. The stack is that of the thread on which the job began, which by then may do something else.
    /// C: `lg_deadline_begin()`, `lg_deadline_end()`.
    public func withDeadline<Result, Failure: Error>(
        _ name: String, _ limit: Duration, isolation: isolated (any Actor)? = #isolation, _ job: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let deadline = core.beginDeadline(name, limit)
        defer { core.endDeadline(deadline) }
        return try await job()
    }
}
