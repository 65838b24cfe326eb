internal import LaunchGuardReportModel

extension RunReport {
    /// The end of a run.
    public enum End: String, Codable, Sendable, CaseIterable {
        /// By `exit()`, by the return of `main`, or by the stop of the session.
        case clean
        /// By a signal that asks a program to end.
        case terminated
        /// By a fault, a trap or an abort.
        case crash
        /// While a thread with a heartbeat stood still.
        case hang
        /// By the kernel, for lack of memory.
        case oom
        /// By a SIGKILL.
        case killed
        /// By `exit()` with another status than 0.
        case exit
        /// Together with the machine.
        case reboot
        /// Another version of the program was started after it.
        case upgrade
        /// Under a debugger.
        case debugger
        /// The evidence does not show the cause.
        case unknown
        /// The run goes on.
        case running

        /// Whether nobody wishes for such an end.
        public var isBad: Bool { RunEnd(rawValue: rawValue)?.isBad ?? false }
    }

    /// A signal.
    public struct Signal: Hashable, Sendable {
        /// The number that Linux uses.
        public let number: Int32
        /// For example "SIGSEGV".
        public let name: String

        init(_ signal: RunSignal) {
            number = signal.number
            name = signal.name
        }
    }

    /// A point in time.
    public struct Time: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// Since the begin of 1970.
        public let nanoseconds: UInt64

        init(_ time: Timestamp) { nanoseconds = time.nanoseconds }

        /// ISO 8601, in UTC, with all nine digits of the fraction.
        public var description: String { Timestamp(nanoseconds: nanoseconds).description }

        /// Whether the first one is the earlier one.
        public static func < (left: Time, right: Time) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    /// A launch of the run.
    public struct Launch: Hashable, Sendable {
        /// The context.
        public let name: String
        /// How far it came: "deciding", "held", "repairing", "launching", "finished" and others.
        public let phase: String
        /// Key of the task that ran last and had not ended.
        public let task: String?
        /// From its begin until it was finished; `nil` if it was not.
        public let duration: Duration?

        init(_ context: RunContext) {
            name = context.name
            phase = context.phase.rawValue
            task = context.task
            duration = context.finishedNanoseconds.flatMap { end in context.begunNanoseconds.map { .nanoseconds(end) - .nanoseconds($0) } }
        }
    }
}
