/// The contents of the ledger of an application.
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
    /// Faults of LaunchGuard's own starts; nil: none since the last complete start.
    public var startFaults: StartFaults?
    /// The last hint of the vendor, in force or not; nil: none has come.
    public var hint: VendorHint?
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

/// Faults inside LaunchGuard's own start. After two in a row some starts protect nothing.
public struct StartFaults: Codable, Hashable, Sendable {
    /// In a row.
    public var count: UInt32
    public var last: Timestamp
    /// Starts that protect nothing before LaunchGuard tries again; a day after the last fault, or
    /// with a new program version, it tries at once.
    public var startsLeft: UInt32
}

/// A hint of the vendor, which came with the answer to a report.
public struct VendorHint: Codable, Hashable, Sendable {
    /// Grows with each hint.
    public var serial: UInt32
    /// What it asks for: "withdrawn", "leave-out", "repair", "safe-mode" or "hold-below".
    public var kind: String
    /// The launch that it is for.
    public var context: String
    /// The task, the repair or the version.
    public var name: String?
    /// It has no effect from then on.
    public var expires: Timestamp

    /// Whether launches follow it.
    public func isInForce(at now: Timestamp = .now) -> Bool { kind != "withdrawn" && now.nanoseconds < expires.nanoseconds }
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
    /// True: guards survived faults in it.
    public var isDegraded: Bool?

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
        isDegraded = report.isDegraded ? true : nil
    }
}
