internal import LaunchGuardReportModel

/// What the ledger of an application says: its contexts with their streaks and ladders, and its
/// last runs, those with it that have a file and are not counted yet.
///
/// `Launch.info(of:stateDirectory:)` of the module `LaunchGuard` has every counter of a context.
public struct LedgerReport: Hashable, Sendable {
    let contents: LaunchGuardReportModel.LedgerReport

    /// Read the ledger of a state directory. Without a ledger there are the runs alone. Files that
    /// cannot be read become problems.
    public init(stateDirectory: String) throws(RunReport.Failure) {
        do throws(ReportError) {
            contents = try StateDirectory(path: stateDirectory).ledger()
        } catch {
            throw RunReport.Failure(error)
        }
    }

    /// Name of the application.
    public var appID: String? { contents.appID }
    /// Version of the last run.
    public var appVersion: String? { contents.appVersion }
    /// The contexts.
    public var contexts: [Context] { contents.contexts.map(Context.init) }
    /// The ended runs, and after them those that are not counted yet; oldest first.
    public var runs: [Run] { contents.timeline.map(Run.init) + contents.uncounted.map(Run.init) }
    /// What could not be read, and why.
    public var problems: [RunReport.Problem] { contents.problems.map(RunReport.Problem.init) }
    /// Whether any part of the ledger is damaged.
    public var isDamaged: Bool { contents.isDamaged }

    /// All that the ledger holds, as one line of JSON.
    public var json: String { JSONLine.text(contents) }

    /// The ledger for a person, with its ladders of repairs.
    ///
    /// - Parameter runs: number of the runs that are shown, the newest; `nil` for all.
    public func text(runs: Int? = nil) -> String {
        var writer = TextWriter()
        contents.write(to: &writer, runLimit: runs)
        return writer.text
    }

    /// A context.
    public struct Context: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Status of its launch: "normal", "checking", "needs-repair", "repairing".
        public let status: String
        /// The kind of its next launch: "normal", "probation", "safe" or "trial".
        public let mode: String
        /// Launch crashes in a row.
        public let streak: Int
        /// Launches since the ledger was made.
        public let launches: UInt64
        /// Launch crashes since then.
        public let crashes: UInt64
        /// Attempts of repairs since then.
        public let repairs: UInt64

        init(_ context: LedgerContext) {
            name = context.name
            status = context.status
            mode = context.mode
            streak = Int(context.streak)
            launches = context.launches
            crashes = context.crashes
            repairs = context.repairs
        }
    }

    /// A run in the ledger.
    public struct Run: Hashable, Sendable {
        /// Its number, from 1.
        public let ordinal: UInt64
        /// Its identity.
        public let uuid: String
        /// Version of the application.
        public let appVersion: String?
        /// Its begin.
        public let started: RunReport.Time?
        /// Its length, as far as its end is known.
        public let duration: Duration?
        /// Its end.
        public let end: RunReport.End?
        /// Its end in a few words, for example "crash SIGSEGV fault.null_write".
        public let summary: String?

        init(_ entry: TimelineEntry) {
            ordinal = entry.ordinal
            uuid = entry.uuid
            appVersion = entry.appVersion
            started = entry.started.map(RunReport.Time.init)
            duration = entry.durationNanoseconds.map { .nanoseconds($0) }
            end = RunReport.End(rawValue: entry.verdict.end.rawValue)
            summary = entry.verdict.summary
        }

        init(_ run: UncountedRun) {
            ordinal = run.ordinal
            uuid = run.uuid
            appVersion = run.appVersion
            started = run.started.map(RunReport.Time.init)
            duration = run.durationNanoseconds.map { .nanoseconds($0) }
            end = run.verdict.flatMap { RunReport.End(rawValue: $0.end.rawValue) }
            summary = run.verdict?.summary
        }
    }
}
