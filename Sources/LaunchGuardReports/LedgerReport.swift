/// What the ledger of an application tells.
public struct LedgerReport: Codable, Hashable, Sendable {
    public var schema = RunReport.currentSchema
    /// Always "ledger".
    public var type = "ledger"
    /// The file.
    public var path: String
    public var appID: String?
    /// Version and build id of the last primary run.
    public var appVersion: String?
    public var buildID: String?
    /// Grows with every store.
    public var generation: UInt64?
    /// Number of the last primary run.
    public var lastOrdinal: UInt64?
    public var contexts: [LedgerContext] = []
    /// Ended runs, oldest first.
    public var timeline: [TimelineEntry] = []
    /// Runs that have a file and are not in the timeline yet.
    public var uncounted: [UncountedRun] = []
    public var problems: [Problem] = []

    public init(path: String) {
        self.path = path
    }

    /// Whether any part of the ledger is damaged.
    public var isDamaged: Bool { problems.contains(where: \.isDamage) }
}

/// One context: its counters and its place on the ladder.
public struct LedgerContext: Codable, Hashable, Sendable {
    public var name: String
    /// What the next launch would be, by what is known now.
    public var status: String
    /// Consecutive launch crashes.
    public var streak: UInt32
    /// Unexplained early deaths since the last finished launch.
    public var unknown: UInt32
    /// The highest streak that was reported.
    public var reported: UInt32
    public var reportAfter: UInt32
    public var repairAfter: UInt32
    public var unknownAfter: UInt32
    /// The next rung, from 0, of `rungCount`; `attempts` were used on it.
    public var rung: UInt32
    public var rungCount: UInt32
    public var attempts: UInt32
    /// Repairs interrupted by a termination or a reboot.
    public var interruptions: UInt32
    /// Name of the last repair that was begun.
    public var lastRepair: String?
    /// Whether the last repair is on trial.
    public var isOnProbation: Bool
    /// Whether no repair is left.
    public var isExhausted: Bool
    /// Whether the next launch is held for a repair whatever the streak.
    public var needsRepair: Bool
    /// Totals since the ledger was made.
    public var launches: UInt64
    public var crashes: UInt64
    public var repairs: UInt64
}

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
    /// Contexts to whose streak or unknown count the run added.
    public var counted: [String]
    /// Contexts of which a repair succeeded in the run.
    public var repaired: [String]
}

/// A run that has a file and is not in the timeline yet.
public struct UncountedRun: Codable, Hashable, Sendable {
    public var path: String
    public var uuid: String
    public var ordinal: UInt64
    public var appVersion: String?
    public var started: Timestamp?
    public var durationNanoseconds: UInt64?
    /// Secondary runs are never counted.
    public var isSecondary: Bool
    public var verdict: Verdict?

    /// The run of a file; nil when the file does not say which run it is.
    public init?(_ report: RunReport) {
        guard let identity = report.identity else { return nil }
        path = report.path
        uuid = identity.uuid
        ordinal = identity.ordinal
        appVersion = identity.appVersion
        started = identity.started
        durationNanoseconds = report.durationNanoseconds
        isSecondary = identity.isSecondary
        verdict = report.verdict
    }
}
