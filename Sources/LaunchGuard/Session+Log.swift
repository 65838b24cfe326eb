extension LaunchGuard.Session {
    /// Append a breadcrumb to the ring log. When the call has returned, the breadcrumb survives any death of the process.
    ///
    /// The text is cut after 4000 bytes. Callable from any thread, without a lock. C: `lg_log_write()`.
    public func log(_ level: LaunchGuard.Level, _ message: String) {
        core.log(level, message)
    }

    /// Append a breadcrumb of constant text to the ring log. C: `lg_log_write()`.
    public func log(_ level: LaunchGuard.Level, _ message: StaticString) {
        core.log(level, message.description)
    }
}
