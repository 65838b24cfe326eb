/// A context as the ledger stores it, and what follows from it: ``Launch/info`` of a launch of this
/// process, and ``Launch/info(of:stateDirectory:)`` of any program. C: `lg_launch_info`.
public struct LaunchInfo: Hashable, Sendable, Codable {
    /// Name of the context.
    public var name: String
    /// The status now of a living program; else the status of its next launch.
    public var status: Launch.Status
    /// The kind of launch.
    public var mode: Launch.Mode
    /// Whether safe mode crashed too: the launch waits, or makes one more try.
    public var isHalted: Bool
    /// Whether a repair is needed whatever the streak.
    public var isDue: Bool
    /// Whether the last launch only decided, and changed nothing.
    public var isShadow: Bool
    /// Consecutive launch crashes.
    public var streak: Int
    /// Unexplained early deaths since the last finished launch.
    public var unknown: Int
    /// ``ends`` at the last report.
    public var reported: Int
    /// Next rung of the ladder, from 0; rung 0 is built in and leaves out a suspect task.
    public var rung: Int
    /// Number of rungs, the built-in one included.
    public var rungCount: Int
    /// Attempts used on the rung.
    public var attempts: Int
    /// Attempts among these that the user or the machine ended.
    public var interruptions: Int
    /// Number of times that the repair was put off.
    public var skips: Int
    /// Finished launches of this time in safe mode.
    public var goodRuns: Int
    /// Finished launches in safe mode that lead to a trial of the normal launch.
    public var retryRuns: Int
    /// Crashes in safe mode in a row.
    public var safeCrashes: Int
    /// Launch crashes in a row from which the crashes are reported.
    public var reportAfter: Int
    /// Launch crashes in a row from which repairs are tried.
    public var repairAfter: Int
    /// Unexplained early deaths from which repairs are tried; `nil` for never.
    public var unknownAfter: Int?
    /// Crashes in a row in safe mode from which the launch is halted; `nil` for never.
    public var safeCrashLimit: Int?
    /// Number of tasks that are remembered for a crash.
    public var suspectCount: Int
    /// Launches since the ledger was made.
    public var launches: UInt64
    /// Launch crashes since the ledger was made.
    public var crashes: UInt64
    /// Attempts of repairs since the ledger was made.
    public var repairs: UInt64
    /// Key of the task in which the last end happened that counted, was unexplained or was a stop;
    /// `nil` for none.
    public var lastTask: String?
    /// The window of the last launch; `nil` where only the mark finishes it.
    public var window: Duration?
    /// The condition that finishes the last launch.
    public var finish: Launch.Finish
    /// Counted ends since the last good launch.
    public var ends: Int
    /// Clean ends of launches under way, in a row; three are a good launch.
    public var quits: Int
    /// Counted ends within ``Launch/Configuration/steadyAfter`` of the launch, in a row.
    public var unsteady: Int
    /// Times in a row that the program was terminated in ``lastTask``; from the third on it counts.
    public var stops: Int
    /// The hint of the vendor that the last launch followed; in
    /// ``Launch/Configuration/onDecide``, the one that the rule follows. `nil` for none.
    public var hint: Launch.Hint?
    /// In ``Launch/Configuration/onDecide``: the last run that ended badly, where there is trouble
    /// since the last good launch, so that a program can choose by its crash. Else `nil`.
    public var lastReport: Report?

    /// The context of a program that has never crashed, but for what is given: for tests of
    /// ``Launch/Configuration/onDecide``.
    public init(
        name: String, status: Launch.Status = .idle, mode: Launch.Mode = .normal, isHalted: Bool = false, isDue: Bool = false,
        isShadow: Bool = false, streak: Int = 0, unknown: Int = 0, reported: Int = 0, rung: Int = 0, rungCount: Int = 1,
        attempts: Int = 0, interruptions: Int = 0, skips: Int = 0, goodRuns: Int = 0, retryRuns: Int = 2,
        safeCrashes: Int = 0, reportAfter: Int = 1, repairAfter: Int = 2, unknownAfter: Int? = 4, safeCrashLimit: Int? = 2,
        suspectCount: Int = 0, launches: UInt64 = 0, crashes: UInt64 = 0, repairs: UInt64 = 0, lastTask: String? = nil,
        window: Duration? = .seconds(5), finish: Launch.Finish = .either, ends: Int = 0, quits: Int = 0, unsteady: Int = 0, stops: Int = 0,
        hint: Launch.Hint? = nil, lastReport: Report? = nil
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
        self.rung = rung
        self.rungCount = rungCount
        self.attempts = attempts
        self.interruptions = interruptions
        self.skips = skips
        self.goodRuns = goodRuns
        self.retryRuns = retryRuns
        self.safeCrashes = safeCrashes
        self.reportAfter = reportAfter
        self.repairAfter = repairAfter
        self.unknownAfter = unknownAfter
        self.safeCrashLimit = safeCrashLimit
        self.suspectCount = suspectCount
        self.launches = launches
        self.crashes = crashes
        self.repairs = repairs
        self.lastTask = lastTask
        self.window = window
        self.finish = finish
        self.ends = ends
        self.quits = quits
        self.unsteady = unsteady
        self.stops = stops
        self.hint = hint
        self.lastReport = lastReport
    }
}
