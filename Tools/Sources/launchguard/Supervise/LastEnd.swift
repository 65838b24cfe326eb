import LaunchGuard
import LaunchGuardReportModel
import ToolParts

/// How the last run of an application ended, and what its next launch will be.
struct LastEnd: Encodable {
    let schema = RunReport.currentSchema
    let type = "last-end"
    let directory: String
    let ordinal: UInt64
    let uuid: String
    let started: Timestamp?
    let durationNanoseconds: UInt64?
    let verdict: Verdict
    /// The cause in one sentence, and the program's own function that it names.
    let headline: String?
    let place: String?
    let contexts: [Context]
    /// The exit status of `verdict`.
    let exitStatus: Int32

    /// A launch, as it would be if it began now.
    struct Context: Encodable {
        let name: String
        let status: String
        let mode: String
        let isHalted: Bool
        let streak: UInt32
    }

    /// The line of the run in a list; nil: its file is gone.
    private let line: ListedRun?

    private enum CodingKeys: CodingKey {
        case schema, type, directory, ordinal, uuid, started, durationNanoseconds, verdict, headline, place, contexts, exitStatus
    }

    /// Nil: no run is known. Processes beside the primary one are passed over.
    init?(_ directory: StateDirectory, _ ledger: LedgerReport, _ symbols: SymbolOptions) {
        let counted = ledger.timeline.map { Run(ordinal: $0.ordinal, uuid: $0.uuid, started: $0.started, duration: $0.durationNanoseconds, verdict: $0.verdict) }
        let uncounted = ledger.uncounted.filter { !$0.isSecondary }.map {
            Run(
                ordinal: $0.ordinal, uuid: $0.uuid, started: $0.started, duration: $0.durationNanoseconds,
                verdict: $0.verdict ?? Verdict(end: .unknown, evidence: "the run file is damaged", evidenceKind: .fileUnreadable))
        }
        guard let last = (counted + uncounted).max(by: { $0.ordinal < $1.ordinal }) else { return nil }
        self.directory = directory.path
        ordinal = last.ordinal
        uuid = last.uuid
        started = last.started
        durationNanoseconds = last.duration
        verdict = last.verdict
        line = Self.line(of: last, directory, ledger, symbols)
        headline = line?.headline
        place = line?.place
        contexts = ledger.contexts.map { context in
            guard let next = try? Launch.info(of: context.name, stateDirectory: directory.path) else {
                return Context(name: context.name, status: context.status, mode: context.mode, isHalted: context.isHalted, streak: context.streak)
            }
            return Context(
                name: next.name, status: next.status.word, mode: next.mode.rawValue, isHalted: next.isHalted,
                streak: UInt32(clamping: next.streak))
        }
        exitStatus = contexts.contains(where: \.isHalted) ? Self.haltedStatus : Self.exitStatus(of: verdict.end)
    }

    private struct Run {
        let ordinal: UInt64
        let uuid: String
        let started: Timestamp?
        let duration: UInt64?
        let verdict: Verdict
    }

    private static func line(of run: Run, _ directory: StateDirectory, _ ledger: LedgerReport, _ symbols: SymbolOptions) -> ListedRun? {
        guard let path = try? directory.runPath(ordinal: run.ordinal) else { return nil }
        let timeline = Dictionary(ledger.timeline.map { ($0.uuid, $0) }) { first, _ in first }
        var reports = [ListedRun.report(path, timeline, withFingerprint: false)]
        guard reports[0].identity?.uuid == run.uuid else { return nil }
        symbols.apply(to: &reports)
        return ListedRun(reports[0], counted: timeline[run.uuid])
    }

    static let haltedStatus: Int32 = 20

    /// 0: nothing is wrong with the program. The numbers begin after those of the tool.
    static func exitStatus(of end: RunEnd) -> Int32 {
        switch end {
        case .clean, .terminated, .upgrade, .debugger, .noRun: 0
        case .crash: 10
        case .hang: 11
        case .oom: 12
        case .killed: 13
        case .exit: 14
        case .unknown: 15
        case .reboot: 16
        case .running: 17
        }
    }

    /// One line.
    var text: String {
        let lived = durationNanoseconds.map { ", lived \(TextWriter.duration(nanoseconds: $0))" } ?? ""
        let launches = contexts.map { context in
            let mode = context.isHalted ? ", halted" : context.mode == "normal" ? "" : ", \(context.mode)"
            return "; \(context.name): \(context.status)\(mode), streak \(context.streak)"
        }
        let why = line.map { $0.why.isEmpty ? "" : ": \($0.why)" } ?? ""
        return "\(line?.end ?? verdict.summary)\(why); run \(ordinal)\(lived)\(launches.joined())"
    }
}
