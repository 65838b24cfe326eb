extension LaunchGuard.LaunchPolicy {
    /// Ends of a launch that count as a launch crash. C: `LG_COUNT_…`.
    public struct Count: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// A crash other than by SIGPIPE.
        public static let crash = Count(rawValue: 1)
        /// A hang.
        public static let hang = Count(rawValue: 2)
        /// Ended by the kernel for lack of memory.
        public static let outOfMemory = Count(rawValue: 4)
        /// An exit with a status other than 0.
        public static let exit = Count(rawValue: 8)
        /// A crash by SIGPIPE.
        public static let brokenPipe = Count(rawValue: 16)
        /// Crashes, hangs and lack of memory.
        public static let `default`: Count = [.crash, .hang, .outOfMemory]
    }

    /// How safe mode is left, and when it is given up.
    public struct SafeMode: Sendable {
        /// Finished launches in safe mode before the normal one is tried again; doubled, to at most 64, with every try that fails. 1 to
        /// 64. C: `safe_retry_runs`.
        public var retryRuns: Int
        /// Crashes in a row in safe mode from which the launch is halted; `nil` for never. C: `safe_crash_limit`.
        public var crashLimit: Int?

        public init(retryRuns: Int = 2, crashLimit: Int? = 2) {
            self.retryRuns = retryRuns
            self.crashLimit = crashLimit
        }
    }

    /// When the ladder starts at its foot again after a repair; until then it goes on where it was.
    public struct Deescalation: Sendable {
        /// After so many finished launches; `nil` for never. C: `deescalate_runs`.
        public var runs: Int?
        /// After so much time in one boot; `nil` for never. C: `deescalate_ms`.
        public var time: Duration?

        public init(runs: Int? = 3, time: Duration? = .seconds(24 * 3600)) {
            self.runs = runs
            self.time = time
        }
    }
}
