extension Launch {
    /// Hold the tasks that have not run yet, repair, and go on: for a program that notices a
    /// problem before it crashes. The task that runs now may finish. In safe mode the call has no
    /// effect, as nothing is left to try. Any thread may make the call, a closure of the launch
    /// included. C: `lg_launch_protect()`.
    ///
    /// - Parameter reason: goes into the log, and to a screen as ``Hold/Reason-swift.struct/text``.
    /// - Returns: true also when the launch is held already; false when the launch is finished.
    @discardableResult
    public func protect(reason: String? = nil) -> Bool { core.protect(reason) }
}
