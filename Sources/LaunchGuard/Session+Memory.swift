import Synchronization

extension Session {
    /// Warn when memory gets near its limit. The limit is the nearest one of the memory cgroup and
    /// the cgroups above it; else the process's own; else the memory of the machine.
    ///
    /// Cached files do not count as used, as the kernel drops them before it ends a process. The
    /// figures are marked in the run file and left as a breadcrumb before the closure is called.
    /// The mark is removed when the shortage is over. Before the first warning of a run, the stacks
    /// of all threads are taken once, as for a hang. The watch looks once a second, and five times
    /// a second in the last quarter before the warning. A program that uses up its memory faster
    /// than that gets no warning.
    ///
    /// - Parameters:
    ///   - nearPercent: of the limit, 1 to 100.
    ///   - onNear: called on a thread of LaunchGuard, where it may block: once, and again only
    ///     after memory was below nine tenths of the warning threshold. Until the closure returns,
    ///     the watch of memory stands still. `nil`: mark and breadcrumb only.
    /// - Throws: for a mistake in the call alone: ``LaunchGuardError/Code/argument`` for a number
    ///   that is no percentage, ``LaunchGuardError/Code/already``: a watch runs in this process;
    ///   ``LaunchGuardError/Code/closed`` after ``stop()``, ``LaunchGuardError/Code/forked`` in a
    ///   forked child. Without a limit that can be read, without files and without a thread nothing
    ///   is watched: ``memoryWatchProblem``.
    public func watchMemory(nearPercent: Int, onNear: (@Sendable (Memory) -> Void)? = nil) throws(LaunchGuardError) {
        do throws(LaunchGuardError) {
            try core.watchMemory(nearPercent, onNear)
            memoryProblem.withLock { $0 = nil }
        } catch {
            guard error.isOfEnvironment else { throw error }
            core.log(.warning, "memory is not watched: \(error)")
            memoryProblem.withLock { $0 = error }
        }
    }

    /// The problem of the environment for which ``watchMemory(nearPercent:onNear:)`` watches
    /// nothing; `nil` without one. ``LaunchGuardError/Code/notFound``: no limit can be read;
    /// ``LaunchGuardError/Code/unprotected``: the session has no files;
    /// ``LaunchGuardError/Code/system``: no thread can be made.
    public var memoryWatchProblem: LaunchGuardError? { memoryProblem.withLock(\.self) }

    /// End the watch of ``watchMemory(nearPercent:onNear:)``, and wait until its closure, which is
    /// then freed, has returned. Inside the closure the call does not wait. A mark of memory near
    /// its limit is removed. Without a watch nothing happens.
    public func stopWatchingMemory() { core.stopWatchingMemory() }

    /// Memory in use when it is near its limit: ``Session/watchMemory(nearPercent:onNear:)``.
    public struct Memory: Hashable, Sendable, Codable {
        /// Memory in use, without cached files.
        public let usedBytes: UInt64
        /// The nearest of the limits that apply.
        public let limitBytes: UInt64
        /// Used, as a percentage of the limit.
        public let percent: Int
        /// Whether the limit is that of the memory cgroup; else it is the process's own, or the
        /// machine's memory.
        public let isOfCgroup: Bool

        /// Figures as they are given, for tests of the closure.
        public init(usedBytes: UInt64, limitBytes: UInt64, percent: Int, isOfCgroup: Bool) {
            self.usedBytes = usedBytes
            self.limitBytes = limitBytes
            self.percent = percent
            self.isOfCgroup = isOfCgroup
        }
    }
}
