import LaunchGuard
import LaunchGuardReportModel

extension LedgerContext {
    /// A simulated context, as a ledger would store it.
    init(_ info: LaunchInfo, status: String, ladder: [LedgerRung]) {
        self.init(
            name: info.name, status: status, mode: info.mode.rawValue, isHalted: info.isHalted, isDue: info.isDue, isShadow: info.isShadow,
            streak: UInt32(info.streak), unknown: UInt32(info.unknown), reported: UInt32(info.reported),
            reportAfter: UInt32(info.reportAfter), repairAfter: UInt32(info.repairAfter), unknownAfter: UInt32(info.unknownAfter ?? 0),
            safeCrashLimit: UInt32(info.safeCrashLimit ?? 0), rung: UInt32(info.rung), attempts: UInt32(info.attempts),
            interruptions: UInt32(info.interruptions), skips: UInt32(info.skips), goodRuns: UInt32(info.goodRuns),
            retryRuns: info.retryRuns == 0 ? nil : UInt32(info.retryRuns), safeCrashes: UInt32(info.safeCrashes), lastTask: info.lastTask,
            ladder: ladder, launches: info.launches, crashes: info.crashes, repairs: info.repairs)
        func some(_ count: Int) -> UInt32? { count == 0 ? nil : UInt32(count) }
        ends = some(info.ends)
        quits = some(info.quits)
        unsteady = some(info.unsteady)
        stops = some(info.stops)
    }
}

extension Timestamp {
    /// Simulated time; 0 is the start.
    init(sinceStart time: Duration) {
        let (seconds, attoseconds) = time.components
        self.init(nanoseconds: UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000))
    }

    /// The text for a person.
    var sinceStartText: String {
        let seconds = nanoseconds / 1_000_000_000
        return (seconds < 3600 ? "\(seconds) s" : "\(seconds / 3600) h") + " after the start"
    }
}
