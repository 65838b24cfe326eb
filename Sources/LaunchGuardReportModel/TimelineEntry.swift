/// One ended run in the timeline.
public struct TimelineEntry: Codable, Hashable, Sendable {
    public var uuid: String
    public var ordinal: UInt64
    public var appVersion: String?
    public var started: Timestamp?
    public var durationNanoseconds: UInt64?
    public var verdict: Verdict
    /// Contexts that were launching and not finished.
    public var launching: [String]
    /// Contexts that were under repair.
    public var repairing: [String]
    /// Contexts against which it counted.
    public var counted: [String]
    /// Contexts in whose module or task the crash was; empty: of no particular context.
    public var attributed: [String]
    /// Contexts of which no launch was under way, and against which it would have counted in one.
    public var late: [String]?
    /// Whether the program has learned of the run.
    public var isTold: Bool?
    /// Beginning of the words with which a repair failed last.
    public var repairFailure: String?
    /// The events of the launches beside their end; contexts without any are left out.
    public var events: [ContextEvents]
    /// True: guards survived faults in the run, which counts for nothing.
    public var isDegraded: Bool?
    /// Contexts whose launch was finished, by the file of the run; nil: that is not there.
    public var finished: [String]?

    /// The events of the launch of one context.
    public struct ContextEvents: Codable, Hashable, Sendable {
        public var context: String
        public var events: [LaunchEvent]

        public init(context: String, events: [LaunchEvent]) {
            self.context = context
            self.events = events
        }
    }
}

/// Something that happened in a launch beside its end. Events that a later version adds are bits in
/// hexadecimal digits, for example "0x4000".
public struct LaunchEvent: RawRepresentable, Codable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public static let reported = LaunchEvent(rawValue: "reported")
    public static let held = LaunchEvent(rawValue: "held")
    public static let repaired = LaunchEvent(rawValue: "repaired")
    public static let repairFailed = LaunchEvent(rawValue: "repair-failed")
    /// A destructive repair was passed over.
    public static let throttled = LaunchEvent(rawValue: "throttled")
    /// The user did not want a repair.
    public static let refused = LaunchEvent(rawValue: "refused")
    /// The user put the repair off.
    public static let skipped = LaunchEvent(rawValue: "skipped")
    /// The hold's deadline passed.
    public static let expired = LaunchEvent(rawValue: "expired")
    /// The program asked for protection.
    public static let protected = LaunchEvent(rawValue: "protected")
    /// A suspect task was left out.
    public static let leftOut = LaunchEvent(rawValue: "left-out")
    /// The launch ran in safe mode.
    public static let safe = LaunchEvent(rawValue: "safe")
    /// The launch tried the normal mode, to leave safe mode.
    public static let trial = LaunchEvent(rawValue: "trial")
    public static let halted = LaunchEvent(rawValue: "halted")
    /// A repair asked for a restart.
    public static let restart = LaunchEvent(rawValue: "restart")
    /// Another version of the program started after the run, and all counters were reset.
    public static let upgraded = LaunchEvent(rawValue: "upgraded")
    /// The program's configuration left out a task.
    public static let omitted = LaunchEvent(rawValue: "omitted")
    /// The program decided about the launch, and not the rule.
    public static let decided = LaunchEvent(rawValue: "decided")

    /// A hint of the vendor left out a task.
    public static let hintLeaveOut = LaunchEvent(rawValue: "hint-leave-out")
    /// A hint of the vendor asked for the repair.
    public static let hintRepair = LaunchEvent(rawValue: "hint-repair")
    /// A hint of the vendor asked for safe mode.
    public static let hintSafeMode = LaunchEvent(rawValue: "hint-safe-mode")
    /// A hint of the vendor held the launch until another version.
    public static let hintHoldBelow = LaunchEvent(rawValue: "hint-hold-below")

    /// By bit.
    static let all: [LaunchEvent] = [
        .reported, .held, .repaired, .repairFailed, .throttled, .refused, .skipped, .expired, .protected, .leftOut, .safe, .trial, .halted, .restart,
        .upgraded, .omitted, .decided, .hintLeaveOut, .hintRepair, .hintSafeMode, .hintHoldBelow,
    ]

    /// The events of a word of bits.
    static func events(_ bits: UInt32) -> [LaunchEvent] {
        (0..<32).filter { bits >> $0 & 1 == 1 }.map { bit in
            bit < all.count ? all[bit] : LaunchEvent(rawValue: "0x" + String(UInt32(1) << UInt32(bit), radix: 16))
        }
    }
}
