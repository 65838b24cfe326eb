extension LaunchGuard {
    /// A context as the ledger stores it, and what follows from it: ``Launch/info`` of a launch of
    /// this process, and ``LaunchGuard/launchInfo(of:stateDirectory:)`` of any program. C:
    /// `lg_launch_info`.
    public struct LaunchInfo: Hashable, Sendable {
        /// Name of the context.
        public let name: String
        /// The status now of a living program; else the status of its next launch.
        public let status: Status
        /// The kind of launch.
        public let mode: Mode
        /// Whether safe mode crashed too: the launch waits, or makes one more try.
        public let isHalted: Bool
        /// Whether a repair is needed whatever the streak.
        public let isDue: Bool
        /// Whether the last launch only decided, and changed nothing.
        public let isShadow: Bool
        /// Consecutive launch crashes.
        public let streak: Int
        /// Unexplained early deaths since the last finished launch.
        public let unknown: Int
        /// The streak that was reported last.
        public let reported: Int
        /// Next rung of the ladder, from 0; rung 0 is built in and leaves out a suspect task.
        public let rung: Int
        /// Number of rungs, the built-in one included.
        public let rungCount: Int
        /// Attempts used on the rung.
        public let attempts: Int
        /// Of these attempts, ended by the user or the machine.
        public let interruptions: Int
        /// Number of times that the repair was put off.
        public let skips: Int
        /// Finished launches in safe mode in a row.
        public let goodRuns: Int
        /// Finished launches in safe mode that lead to a trial of the normal launch.
        public let retryRuns: Int
        /// Crashes in safe mode in a row.
        public let safeCrashes: Int
        /// Launch crashes in a row from which the crashes are reported.
        public let reportAfter: Int
        /// Launch crashes in a row from which repairs are tried.
        public let repairAfter: Int
        /// Unexplained early deaths from which repairs are tried; `nil` for never.
        public let unknownAfter: Int?
        /// Crashes in a row in safe mode from which the launch is halted; `nil` for never.
        public let safeCrashLimit: Int?
        /// Number of tasks that are remembered for a crash.
        public let suspectCount: Int
        /// Launches since the ledger was made.
        public let launches: UInt64
        /// Launch crashes since the ledger was made.
        public let crashes: UInt64
        /// Attempts of repairs since the ledger was made.
        public let repairs: UInt64
        /// Key of the task in which the last counted crash happened; `nil` for none.
        public let lastTask: String?
        /// The window of the last launch; `nil` where only the mark finishes it.
        public let window: Duration?
        /// The condition that finishes the last launch.
        public let finish: Finish
    }
}
