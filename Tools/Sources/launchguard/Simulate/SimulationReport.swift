import LaunchGuard
import LaunchGuardReportModel

/// The result of a simulation.
struct SimulationReport: Encodable {
    var schema = 1
    var type = "simulation"
    var policy: Policy
    var steps: [Step] = []
    /// The context at the end, as a ledger would store it.
    var context: LedgerContext?

    struct Policy: Encodable {
        var context: String
        var reportAfter: Int
        var repairAfter: Int
        /// 0: never.
        var unknownAfter: Int
        /// In the order of the ladder, whose rung 0 is built in.
        var repairs: [SimulatedRepair]
        var tasks: [SimulatedTask]
        var isAutomatic: Bool
        var isSupervised: Bool
        var safeRetryRuns: Int
        /// 0: never.
        var safeCrashLimit: Int
        /// 0: never.
        var deescalateRuns: Int
        var isShadow: Bool

        init(_ options: PolicyOptions) {
            context = options.context
            reportAfter = options.reportAfter
            repairAfter = options.repairAfter
            unknownAfter = options.unknownAfter ?? 2 * options.repairAfter
            repairs = options.repairs
            tasks = options.tasks
            isAutomatic = !options.byHand
            isSupervised = options.supervised
            safeRetryRuns = options.safeRetryRuns
            safeCrashLimit = options.safeCrashLimit
            deescalateRuns = options.deescalateRuns
            isShadow = options.shadow
        }
    }

    /// One event and its effect.
    struct Step: Encodable {
        /// From 0, which is the start of the first run.
        var number: Int
        var event: String
        var remark: String?
        var before: Standing
        var after: Standing
        /// In the order in which they ran.
        var callbacks: [SimulatedCallback]
    }

    /// The state of the launch.
    struct Standing: Encodable {
        var status: String
        var mode: String
        var isHalted: Bool
        var streak: Int
        var unknown: Int
        /// The next rung, or the rung of the repair under way.
        var rung: Int
        var attempts: Int
        /// Allowed on the rung; nil: there is no such rung.
        var attemptsAllowed: Int?
        var goodRuns: Int
        var retryRuns: Int
        var safeCrashes: Int

        init(_ info: LaunchInfo?, _ status: Launch.Status, _ repairs: [SimulatedRepair]) {
            self.status = status.word
            mode = (info?.mode ?? .normal).rawValue
            isHalted = info?.isHalted ?? false
            streak = info?.streak ?? 0
            unknown = info?.unknown ?? 0
            rung = info?.rung ?? 0
            attempts = info?.attempts ?? 0
            attemptsAllowed = rung == 0 ? 1 : rung <= repairs.count ? repairs[rung - 1].attempts : nil
            goodRuns = info?.goodRuns ?? 0
            retryRuns = info?.retryRuns ?? 0
            safeCrashes = info?.safeCrashes ?? 0
        }
    }
}

extension Launch.Status {
    /// The name as everywhere in the tool, which has those of C: `lg_launch_status_name()`.
    var word: String {
        switch self {
        case .idle, .finished: "normal"
        case .launching: "checking"
        case .awaitingRepair: "needs-repair"
        case .repairing: "repairing"
        }
    }
}
