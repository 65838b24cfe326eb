extension LaunchGuard.Session {
    /// Be warned when memory gets near its limit: that of the memory cgroup or of one above it, the nearest; else the process's own; else the machine's.
    ///
    /// Cached files, which the kernel drops before it ends anybody, do not count as used. The figures are marked in the run file and left as a
    /// breadcrumb before the closure is called, and the mark is taken back when it is over. It looks once a second, and five times a second in the last
    /// quarter before the warning: who eats all of it faster than that is not warned. C: `lg_memory_watch()`.
    ///
    /// - Parameters:
    ///   - nearPercent: of the limit, 1 to 100.
    ///   - onNear: called on a thread of LaunchGuard, where it may block: once, and again only after memory was below nine tenths of what it was to
    ///     warn of. While it has not returned nothing more is looked at. `nil`: mark and breadcrumb only.
    /// - Returns: why nothing is watched, which the program need not care about; `nil` where it is. ``LaunchGuardError/Code/already``: it was called
    ///   before, in this process; ``LaunchGuardError/Code/notFound``: there is no limit that can be read.
    @discardableResult
    public func watchMemory(nearPercent: Int, onNear: (@Sendable (LaunchGuard.Memory) -> Void)? = nil) -> LaunchGuardError? {
        core.watchMemory(nearPercent, onNear)
    }
}
