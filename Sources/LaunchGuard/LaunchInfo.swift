extension LaunchGuard {
    /// A context as the ledger has it, and what follows from it: ``Launch/info`` of a launch of this process, and
    /// ``LaunchGuard/launchInfo(of:stateDirectory:)`` of any program. C: `lg_launch_info`.
    public struct LaunchInfo: Hashable, Sendable {
        /// Name of the context.
        public let name: String
        /// The status now, of a living program; else what its next launch would be.
        public let status: Status
        /// What kind of launch it is.
        public let mode: Mode
        /// Whether safe mode crashed too: the launch waits, or makes one more try.
        public let isHalted: Bool
        /// Whether a repair is needed whatever the streak.
        public let isDue: Bool
        /// Whether the last launch only decided, and did nothing.
        public let isShadow: Bool
        /// Consecutive launch crashes.
        public let streak: Int
        /// Unexplained early deaths since the last finished launch.
        public let unknown: Int
        /// The streak that was reported last.
        public let reported: Int
        /// Next rung of the ladder, from 0; rung 0 is built in and leaves out a suspect task.
        public let rung: Int
        /// How many rungs there are, with the built-in one.
        public let rungCount: Int
        /// Attempts used on the rung.
        public let attempts: Int
        /// Of these attempts, ended by the user or the machine.
        public let interruptions: Int
        /// How often the repair was put off.
        public let skips: Int
        /// Finished launches in safe mode in a row.
        public let goodRuns: Int
        /// How many of them it takes until the normal launch is tried again.
        public let retryRuns: Int
        /// Crashes in safe mode in a row.
        public let safeCrashes: Int
        /// Launch crashes in a row from which they are reported.
        public let reportAfter: Int
        /// Launch crashes in a row from which repairs are tried.
        public let repairAfter: Int
        /// Unexplained early deaths from which repairs are tried; `nil` for never.
        public let unknownAfter: Int?
        /// Crashes in a row in safe mode from which the launch is halted; `nil` for never.
        public let safeCrashLimit: Int?
        /// How many tasks are remembered because a crash came in them.
        public let suspectCount: Int
        /// Launches since the ledger was made.
        public let launches: UInt64
        /// Launch crashes since the ledger was made.
        public let crashes: UInt64
        /// Attempts of repairs since the ledger was made.
        public let repairs: UInt64
        /// Key of the task that the last counted crash came in; `nil` for none.
        public let lastTask: String?
    }
}
