/// What became of the runs of a state directory: their reports in the spool, and why the others
/// have none.
public struct RunDeliveries: Sendable {
    private let byRun: [String: [DeliveryEntry]]
    private let spool: Spool?
    private let settings: SpoolSettings

    /// - Throws: an error where the spool cannot be read.
    public init(_ directory: StateDirectory) throws(ReportError) {
        byRun = Dictionary(grouping: try directory.deliveries(), by: { $0.runUUID ?? $0.uuid })
        spool = try Spool(directory)
        settings = SpoolSettings(spoolPath: directory.spoolPath)
    }

    /// The reports of a run, and what became of its end where that has no report; empty where no
    /// program has asked for delivery, and for a run that goes on and has asked for no report.
    ///
    /// - Parameter verdict: the end of the run, in the words of the ledger where that has it.
    public func entries(ofRun uuid: String, ordinal: UInt64, path: String, verdict: Verdict?) -> [DeliveryEntry] {
        let reports = byRun[uuid] ?? []
        guard spool?.target != nil, !reports.contains(where: { $0.uuid == uuid }), let outcome = (try? Reader(path: path))?.outcome else { return reports }
        let (state, reason) = standing(outcome, ordinal, verdict)
        let entry = DeliveryEntry(
            uuid: uuid, runUUID: uuid, ordinal: ordinal, state: state, end: verdict?.end, countedIn: outcome.countedIn, reason: reason)
        return reports + [entry]
    }

    private func standing(_ outcome: RunOutcome, _ ordinal: UInt64, _ verdict: Verdict?) -> (DeliveryEntry.State, String?) {
        let noConsent = "the user had not consented"
        switch outcome.kind {
        case .unwanted: return (.never, "no report is asked for such an end")
        case .withoutConsent: return (.never, noConsent)
        case .counted: return (.counted, nil)
        case .sent: return (.sent, "its report has given way to a new one")
        case .dead: return (.dead, "its report has given way to a new one")
        case .spooled: return ordinal < settings.consentBegins ? (.never, "the user withheld consent") : (.dead, "its report is gone from the spool")
        case .none: break
        }
        if ordinal < settings.consentBegins { return (.never, noConsent) }
        guard let verdict else { return (.never, "its file is damaged") }
        if !settings.wants(verdict.end, isLaunching: outcome.isLaunching) { return (.never, "no report is asked for such an end") }
        if spool?.isOff == true { return (.never, "delivery is switched off") }
        if spool?.hasConsent == false { return settings.isUndecided ? (.owed, "the user has not consented yet") : (.never, "the user withholds consent") }
        return (.owed, spool?.agentProcessID == nil ? "no agent lives" : nil)
    }
}

/// The files `config` and `consent` of a spool.
struct SpoolSettings {
    private let lines: [Substring]
    private let consent: [Substring]

    init(spoolPath: String) {
        lines = ReportPath.firstBytes(of: spoolPath + "/config", 8192)?.split(separator: "\n") ?? []
        consent = ReportPath.firstBytes(of: spoolPath + "/consent", 64)?.split { $0.isWhitespace } ?? []
    }

    subscript(_ key: String) -> Substring? { lines.first { $0.hasPrefix(key + "=") }?.dropFirst(key.count + 1) }

    var hasConsent: Bool { consent.first == "given" }
    /// Nobody has asked the user.
    var isUndecided: Bool { consent.isEmpty }
    /// Runs before this number are never sent.
    var consentBegins: UInt64 { consent.dropFirst().first.flatMap { UInt64($0) } ?? 0 }

    func wants(_ end: RunEnd, isLaunching: Bool) -> Bool {
        let ends = self["ends"]?.split(separator: ",") ?? []
        return ends.contains(Substring(end.rawValue)) || end == .unknown && isLaunching && ends.contains("unknown-in-launch")
    }
}
