extension Launch.Configuration {
    /// The conditions under which a launch goes on although a repair that has timed out has not
    /// ended. Its task was cancelled by then.
    public struct Overrun: Hashable, Sendable {
        /// The course of a launch whose repair neither answers nor ends. C: `lg_overrun`.
        public enum Course: Sendable, CaseIterable {
            /// The launch goes on in safe mode. Its tasks run beside the repair.
            case safeMode
            /// The next attempt begins beside the repair that runs on.
            case nextAttempt
        }

        /// Longest wait for a repair that has not answered within its timeout, at most a day. The
        /// next attempt and the tasks wait meanwhile. C: `repair_grace_ms`.
        public var grace: Duration
        /// The course when that wait is over, too, and the repair may run on. C: `overrun`.
        public var course: Course

        public init(grace: Duration = .seconds(10), course: Course = .safeMode) {
            self.grace = grace
            self.course = course
        }
    }

    /// Ends of a launch that count as a launch crash. C: `LG_COUNT_…`.
    public struct Count: OptionSet, Hashable, Sendable {
        /// The bits, as in C.
        public let rawValue: UInt32

        /// Make the set of these bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// A crash other than by SIGPIPE.
        public static let crash = Count(rawValue: 1)
        /// A hang.
        public static let hang = Count(rawValue: 2)
        /// An end by the kernel for lack of memory.
        public static let oom = Count(rawValue: 4)
        /// An exit with a status other than 0.
        public static let exit = Count(rawValue: 8)
        /// A crash by SIGPIPE.
        public static let brokenPipe = Count(rawValue: 16)
        /// Crashes, hangs and lack of memory.
        public static let `default`: Count = [.crash, .hang, .oom]
    }

    /// The conditions under which safe mode is left and given up.
    public struct SafeMode: Hashable, Sendable {
        /// Finished launches in safe mode before the normal launch is tried again. Each trial that
        /// fails doubles the number, to at most 8. 1 to 8. C: `safe_retry_runs`.
        public var retryRuns: Int
        /// Crashes in a row in safe mode from which the launch is halted; `nil` for never. C:
        /// `safe_crash_limit`.
        public var crashLimit: Int?

        /// By default: two good launches lead to a trial, two crashes in safe mode to a halt.
        public init(retryRuns: Int = 2, crashLimit: Int? = 2) {
            self.retryRuns = retryRuns
            self.crashLimit = crashLimit
        }
    }

    /// The conditions under which the ladder starts anew after a repair. Until then it goes on at
    /// the rung it had reached.
    public struct Deescalation: Hashable, Sendable {
        /// Finished launches since a repair after which the ladder starts at its lowest rung again;
        /// `nil` for never. C: `deescalate_runs`.
        public var runs: Int?
        /// Time since a repair, within one boot, after which the ladder starts at its lowest rung
        /// again; `nil` for never. C: `deescalate_ms`.
        public var time: Duration?

        /// By default: after three finished launches, or a day.
        public init(runs: Int? = 3, time: Duration? = .seconds(24 * 3600)) {
            self.runs = runs
            self.time = time
        }
    }

    /// The effect of a cancelled caller of ``Launch/begin()``, as long as the call lasts.
    public enum Cancellation: Sendable, CaseIterable {
        /// None: the launch goes on, and the call waits for it. A launch is not left half done
        /// because a window was closed.
        case ignored
        /// The tasks of the closures that run are cancelled. A repair that is needed is put off, as
        /// by ``Launch/Hold/skip()``; the attempt that was cancelled counts. Launch tasks that have
        /// not begun are not called. Their state is ``Launch/TaskState/failed``, or
        /// ``Launch/TaskState/leftOut`` after an essential one. The call then throws
        /// ``LaunchGuardError/Code/cancelled``.
        case forwarded
    }
}
