import LaunchGuardReportModel

/// One line of the list.
struct ListedRun: Encodable, Sendable {
    let schema = RunReport.currentSchema
    let type = "listed-run"
    var path: String
    var uuid: String?
    var ordinal: UInt64?
    var app: String?
    var version: String?
    var started: Timestamp?
    var durationNanoseconds: UInt64?
    var verdict: Verdict?
    /// Contexts to whose streak or unknown count the run added; nil: not in the timeline.
    var counted: [String]?
    var fingerprint: String?
    /// The cause in one sentence, and without the program.
    var headline: String
    private let cause: String?
    /// The finer kind of a crash, and the last message before it.
    var reason: String?
    var message: String?
    /// The program's own function nearest to the crash or the hang.
    var place: String?
    /// Its reports in the spool, and what became of an end without one; nil: neither.
    var delivery: [DeliveryEntry]?
    /// True: guards survived faults in it.
    var isDegraded: Bool?
    var problems: [Problem]
    /// Whether there may be symbols for the run.
    let hasStack: Bool

    private enum CodingKeys: CodingKey {
        case schema, type, path, uuid, ordinal, app, version, started, durationNanoseconds, verdict, counted, fingerprint, headline, reason, message, place, delivery, isDegraded,
            problems
    }

    init(_ report: RunReport, counted entry: TimelineEntry?) {
        path = report.path
        uuid = report.identity?.uuid
        ordinal = report.identity?.ordinal
        app = report.identity?.appID
        version = report.identity?.appVersion
        started = report.identity?.started
        durationNanoseconds = report.durationNanoseconds ?? entry?.durationNanoseconds
        var report = report
        report.verdict = entry?.verdict ?? report.verdict
        verdict = report.verdict
        counted = entry?.counted
        fingerprint = report.fingerprint
        headline = report.headline
        cause = report.cause
        reason = report.fatalCrash.flatMap { $0.finestKind == $0.kind ? nil : $0.finestKind }
        message = report.said
        place = report.place
        isDegraded = entry?.isDegraded == true || report.isDegraded ? true : nil
        problems = report.problems
        hasStack = report.crash != nil || report.otherCrashes != nil || report.snapshots != nil
    }

    /// What a line needs of a file, with the end that the ledger counted; the report of a file that
    /// cannot be read says so.
    static func report(_ path: String, _ timeline: [String: TimelineEntry], withFingerprint: Bool) -> RunReport {
        do throws(ReportError) {
            let reader = try Reader(path: path)
            var report = try reader.summary()
            // A line shows no other stack of a program that lived on.
            if report.hang == nil { report.snapshots = nil }
            if withFingerprint {
                report.fingerprint = report.identity.flatMap { timeline[$0.uuid] }.map { reader.fingerprint(endedAs: $0.verdict) } ?? reader.fingerprint
            }
            return report
        } catch {
            var report = RunReport(path: path)
            report.problems = [Problem(part: "file", code: error.code.name, message: error.message)]
            return report
        }
    }

    mutating func take(_ deliveries: RunDeliveries) {
        guard let uuid, let ordinal else { return }
        let entries = deliveries.entries(ofRun: uuid, ordinal: ordinal, path: path, verdict: verdict)
        delivery = entries.isEmpty ? nil : entries
    }

    /// Whether a list shows the run. A damaged file has no end, and a run whose start is not known
    /// may be of any time.
    func matches(_ ends: Set<RunEnd>, since: Timestamp?) -> Bool {
        if !ends.isEmpty { guard let verdict, ends.contains(verdict.end) else { return false } }
        guard let since, let started else { return true }
        return started >= since
    }

    var isDamaged: Bool { verdict == nil || problems.contains(where: \.isDamage) }

    /// The end in words; what a crash was is its cause.
    var end: String { cause == nil ? verdict?.summary ?? "damaged" : "crash" }

    /// The states of its reports.
    var states: String { (delivery ?? []).map(\.state.rawValue).joined(separator: ", ") }

    /// The cause, or else the place, or what was said.
    var why: String { cause ?? place.map(Symbol.inShort) ?? message ?? "" }

    /// The same, and the remarks about its reports.
    private var details: String {
        let remarks = (delivery ?? []).flatMap { $0.remarks(time: \.localText) }.joined(separator: "; ")
        return [why, remarks.isEmpty ? "" : "(\(remarks))"].filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// In a terminal of few columns the time is short, and the duration is left out.
    func write(to writer: inout TextWriter, endWidth: Int, stateWidth: Int) {
        let isNarrow = writer.columns.map { $0 < 80 } ?? false
        writer.add(ordinal.map { "#\($0)" } ?? "?", width: 6)
        guard let verdict else {
            writer.line("\(path): \(problems.first.map { "\($0.code): \($0.message)" } ?? "damaged")", .red)
            return
        }
        writer.add((isNarrow ? started?.shortLocalText : started?.localText) ?? "unknown", width: isNarrow ? 13 : 21, .dim)
        if !isNarrow { writer.add(durationNanoseconds.map { TextWriter.duration(nanoseconds: $0) } ?? "", width: 12) }
        writer.add(end, width: details.isEmpty && states.isEmpty ? 0 : endWidth + 2, verdict.end.style)
        if stateWidth > 0 { writer.add(states, width: details.isEmpty ? 0 : stateWidth + 2, delivery?.last?.state.style ?? .plain) }
        writer.add(details)
        if isDegraded == true { writer.add("  degraded", .yellow) }
        if isDamaged { writer.add("  damaged; see launchguard verify", .red) }
        writer.endLine()
    }
}
