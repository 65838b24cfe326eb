/// One context: its counters, its mode, and its place on the ladder.
public struct LedgerContext: Codable, Hashable, Sendable {
    public var name: String
    /// Status of the launch under way, or of the one in the last run: "normal", "checking",
    /// "needs-repair" or "repairing".
    public var status: String
    /// The kind of the next launch: "normal", "probation", "safe" or "trial".
    public var mode: String
    /// Whether safe mode crashed too: the launch waits, or makes one more try.
    public var isHalted: Bool
    /// Whether a repair is needed whatever the streak.
    public var isDue: Bool
    /// Whether the last launch only decided, and did nothing.
    public var isShadow: Bool
    /// Consecutive launch crashes.
    public var streak: UInt32
    /// Unexplained early deaths since the last finished launch.
    public var unknown: UInt32
    /// The number of ends at the last report.
    public var reported: UInt32
    /// Thresholds of the last launch; 0: never.
    public var reportAfter: UInt32
    public var repairAfter: UInt32
    public var unknownAfter: UInt32
    public var safeCrashLimit: UInt32
    /// The next rung, an index of `ladder`, or their number when none is left; `attempts` were used
    /// on it. In safe mode and in a trial no repair is tried, and the rung is 0.
    public var rung: UInt32
    public var attempts: UInt32
    /// Attempts on this rung that the user or the machine ended.
    public var interruptions: UInt32
    /// The number of times that the repair was put off.
    public var skips: UInt32
    /// Finished launches of this time in safe mode.
    public var goodRuns: UInt32
    /// How many of them it takes until the normal launch is tried again; nil: not yet known.
    public var retryRuns: UInt32?
    /// Crashes in safe mode in a row.
    public var safeCrashes: UInt32
    /// Key of the task that the last end came in which counted, was unexplained or was a stop.
    public var lastTask: String?
    /// Rung 0, the least disruptive, first.
    public var ladder: [LedgerRung]
    /// Tasks that crashes came in.
    public var suspects: [LedgerSuspect]
    /// Totals since the ledger was made.
    public var launches: UInt64
    public var crashes: UInt64
    public var repairs: UInt64
    /// The window of the last launch; nil: only the mark finishes it, or not known.
    public var windowMilliseconds: UInt32?
    /// The condition that finishes the launch: "mark", "time" or "both"; nil: mark or window.
    public var finish: String?
    /// Counted ends since the last good launch, whatever was repaired; nil: none.
    public var ends: UInt32?
    /// Clean ends of launches under way, in a row: three are a good launch; nil: none.
    public var quits: UInt32?
    /// Counted ends soon after a finished launch, in a row; nil: none.
    public var unsteady: UInt32?
    /// Times in a row that the program was terminated in ``lastTask``; from the third on they
    /// count; nil: none.
    public var stops: UInt32?

    public init(
        name: String, status: String, mode: String, isHalted: Bool, isDue: Bool, isShadow: Bool, streak: UInt32, unknown: UInt32,
        reported: UInt32, reportAfter: UInt32, repairAfter: UInt32, unknownAfter: UInt32, safeCrashLimit: UInt32, rung: UInt32,
        attempts: UInt32, interruptions: UInt32, skips: UInt32, goodRuns: UInt32, retryRuns: UInt32?, safeCrashes: UInt32,
        lastTask: String?, ladder: [LedgerRung], launches: UInt64, crashes: UInt64, repairs: UInt64
    ) {
        self.name = name
        self.status = status
        self.mode = mode
        self.isHalted = isHalted
        self.isDue = isDue
        self.isShadow = isShadow
        self.streak = streak
        self.unknown = unknown
        self.reported = reported
        self.reportAfter = reportAfter
        self.repairAfter = repairAfter
        self.unknownAfter = unknownAfter
        self.safeCrashLimit = safeCrashLimit
        self.rung = rung
        self.attempts = attempts
        self.interruptions = interruptions
        self.skips = skips
        self.goodRuns = goodRuns
        self.retryRuns = retryRuns
        self.safeCrashes = safeCrashes
        self.lastTask = lastTask
        self.ladder = ladder
        suspects = []
        self.launches = launches
        self.crashes = crashes
        self.repairs = repairs
    }
}

/// One rung of a ladder.
public struct LedgerRung: Codable, Hashable, Sendable {
    public var name: String
    /// The disruption that the repair causes, 0 to 100.
    public var impact: UInt32
    /// Attempts allowed in a series.
    public var attempts: UInt32
    /// Time for one attempt; nil: it needs none.
    public var timeoutMilliseconds: UInt32?
    /// Whether it is the one that leaves out a suspect task.
    public var isBuiltIn: Bool
    /// Whether it loses something: a new series begins at most once a day.
    public var isDestructive: Bool
    /// Whether it waits for consent.
    public var needsConsent: Bool
    /// Whether the program has to be started again after it.
    public var needsRestart: Bool
    /// When the last attempt began; nil: never.
    public var lastSeries: Timestamp?
    /// What became of it since the last good launch with every task: "did-not-help" after a
    /// success, "refused" or "failed"; nil: not tried.
    public var fate: String?

    public init(
        name: String, impact: UInt32, attempts: UInt32, timeoutMilliseconds: UInt32? = nil, isBuiltIn: Bool = false,
        isDestructive: Bool = false, needsConsent: Bool = false, needsRestart: Bool = false, lastSeries: Timestamp? = nil, fate: String? = nil
    ) {
        self.name = name
        self.impact = impact
        self.attempts = attempts
        self.timeoutMilliseconds = timeoutMilliseconds
        self.isBuiltIn = isBuiltIn
        self.isDestructive = isDestructive
        self.needsConsent = needsConsent
        self.needsRestart = needsRestart
        self.lastSeries = lastSeries
        self.fate = fate
    }

    /// Until when no new series begins, for a rung that was tried and is destructive.
    public var throttledUntil: Timestamp? {
        guard isDestructive, let lastSeries else { return nil }
        let (end, isTooLate) = lastSeries.nanoseconds.addingReportingOverflow(86_400_000_000_000)
        return Timestamp(nanoseconds: isTooLate ? .max : end)
    }
}

/// A task that crashes came in.
public struct LedgerSuspect: Codable, Hashable, Sendable {
    public var key: String
    public var crashes: UInt32
    /// Whether the last launch left it out.
    public var isLeftOut: Bool
}
