extension Session {
    /// Do a job with a time limit: something else (a supervisor, a platform's limit for background
    /// work) kills the program if the job takes longer.
    ///
    /// When nine tenths of the time have passed and the job has not ended, the watch marks the job
    /// as about to overrun, takes the stack of the calling thread, and leaves a breadcrumb. The job
    /// is not stopped. Time in which the process was stopped, or asleep with its machine, counts
    /// too. At most 32 jobs are watched at a time; a further job is done all the same.
    ///
    /// - Parameters:
    ///   - name: for people, cut to 63 bytes.
    ///   - limit: from a millisecond to a day; a value outside counts as the nearest of them.
    ///   - job: runs on the calling thread; its result and its error are those of the call.
    public func withDeadline<Result, Failure: Error>(
        _ name: String, limit: Duration, _ job: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let deadline = core.beginDeadline(name, limit)
        defer { core.endDeadline(deadline) }
        return try job()
    }

    /// Do a job with a time limit that waits. If the task waits when the job is about to overrun,
    /// the watch takes the functions that wait for each other, as far as it knows this version of
    /// the Swift runtime; else the stack of the thread on which the job began, which by then may do
    /// something else.
    public func withDeadline<Result, Failure: Error>(
        _ name: String, limit: Duration, isolation: isolated (any Actor)? = #isolation, _ job: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let deadline = core.beginDeadline(name, limit)
        core.takesTask(deadline)
        defer { core.endDeadline(deadline) }
        return try await job()
    }
}
