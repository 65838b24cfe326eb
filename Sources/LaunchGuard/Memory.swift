extension LaunchGuard {
    /// Memory in use when it is near its limit: ``Session/watchMemory(nearPercent:onNear:)``. C:
    /// `lg_memory`.
    public struct Memory: Hashable, Sendable, Codable {
        public let usedBytes: UInt64
        /// The nearest of the limits that apply.
        public let limitBytes: UInt64
        /// Used, as a percentage of the limit.
        public let percent: Int
        /// Whether the limit is that of the memory cgroup; else it is the process's own, or the
        /// machine's memory.
        public let isOfCgroup: Bool

        public init(usedBytes: UInt64, limitBytes: UInt64, percent: Int, isOfCgroup: Bool) {
            self.usedBytes = usedBytes
            self.limitBytes = limitBytes
            self.percent = percent
            self.isOfCgroup = isOfCgroup
        }
    }
}
