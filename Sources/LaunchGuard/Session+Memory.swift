extension LaunchGuard.Session {
    /// Warn when memory gets near its limit. The limit is the nearest one of the memory cgroup and
    /// the cgroups above it; else the process's own; else the memory of the machine.
    ///
    /// Cached files do not count as used, as the kernel drops them before it ends a process. The
    /// figures are marked in the run file and left as a breadcrumb before the closure is called.
    /// The mark is removed when the shortage is over. Before the first warning of a run, the stacks
    /// of all threads are taken once, as for a hang. The watch looks once a second, and five times
    /// a second in the last quarter before the warning. A program that uses up its memory faster
    /// than that gets no warning. C: `lg_memory_watch()`.
    ///
    /// - Parameters:
    ///   - nearPercent: of the limit, 1 to 100.
    ///   - onNear: called on a thread of LaunchGuard, where it may block: once, and again only
    ///     after memory was below nine tenths of the warning threshold. Until the closure returns,
    ///     the watch of memory stands still. `nil`: mark and breadcrumb only.
    /// - Returns: the reason why nothing is watched, which the program may ignore; `nil` for a
    ///   watch. ``LaunchGuardError/Code/already``: a watch runs already in this process;
    ///   ``LaunchGuardError/Code/notFound``: no limit can be read.
    @discardableResult
    public func watchMemory(nearPercent: Int, onNear: (@Sendable (LaunchGuard.Memory) -> Void)? = nil) -> LaunchGuardError? {
        core.watchMemory(nearPercent, onNear)
    }
}
