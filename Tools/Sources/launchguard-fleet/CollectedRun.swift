internal import GRDB
import LaunchGuardReports

/// A run as it was read, with what its device knew of it.
struct CollectedRun: Sendable {
    var report: RunReport
    /// The coarse key. Nil: it ended as somebody wished, or it lives, or its file does not show it.
    let coarse: String?
    /// The bug key, or else the coarse one.
    private(set) var fingerprint: String?
    var certainty: Certainty
    var isDegraded: Bool
    var durationNanoseconds: UInt64?

    /// How far the end is certain. A copy of a file that says more comes later.
    enum Certainty: Int {
        /// The process lives.
        case alive = 0
        /// Marks are missing, and another machine than the run's own concludes from that.
        case concluded
        /// By a mark or a record in the file.
        case recorded
        /// By the ledger of the device.
        case counted
    }

    /// Reads a run; nil: the file does not say whose it is.
    init?(_ reader: Reader, _ timeline: [String: TimelineEntry], _ deliveries: [String: String]) throws(ReportError) {
        var report = try reader.summary()
        guard let uuid = report.identity?.uuid, let own = report.verdict else { return nil }
        let entry = timeline[uuid]
        if let entry, own.end != .running { report.verdict = entry.verdict }
        let verdict = report.verdict ?? own
        certainty = own.end == .running ? .alive : entry != nil ? .counted : Self.isConclusion(own) ? .concluded : .recorded
        coarse = verdict.end.isBad ? deliveries[uuid] ?? (verdict == own ? reader.fingerprint : reader.fingerprint(endedAs: verdict)) : nil
        fingerprint = coarse
        isDegraded = report.isDegraded || entry?.isDegraded == true
        durationNanoseconds = report.durationNanoseconds ?? entry?.durationNanoseconds
        // Others say how a program stood that lived on.
        if report.hang == nil { report.snapshots = nil }
        self.report = report
    }

    /// Only another boot is a conclusion with an end of its own: docs/ENDS.md.
    private static func isConclusion(_ verdict: Verdict) -> Bool {
        verdict.end == .unknown || verdict.evidenceKind == .bootDiffers || verdict.evidenceKind == nil
    }

    /// The record with the most parts is the best example.
    var completeness: Int {
        let frames = report.fatalCrash?.stack?.frames ?? []
        let known = frames.count { $0.symbols?.isEmpty == false }
        let stages = report.crash?.stages.count ?? report.snapshots?.count ?? 0
        return (report.isDamaged ? 0 : 1000) + 20 * stages + 10 * min(known, 8) + min(frames.count, 64)
    }
}

extension CollectedRun {
    /// Once the report has its symbols.
    mutating func makeKey() { fingerprint = coarse.flatMap { report.bugKey(coarse: $0) } }
}

// MARK: - As a row

extension CollectedRun {
    /// Puts the run into its row. A copy that is damaged, or knows less of the end, changes
    /// nothing; but a recorded end counts for more than that the run lived once, in a damaged file
    /// too.
    func store(_ database: Database, device: Int64, at now: String) throws {
        guard let identity = report.identity, let verdict = report.verdict else { return }
        if let fingerprint {
            try database.cachedStatement(sql: Self.insertFingerprint).execute(arguments: [
                fingerprint, identity.appID, verdict.end.rawValue, report.headline, report.place,
            ])
        }
        let crash = report.fatalCrash
        try database.cachedStatement(sql: Self.insert).execute(arguments: [
            "uuid": identity.uuid, "device_id": device, "app": identity.appID, "version": identity.appVersion, "build_id": identity.buildID,
            "number": Int64(clamping: identity.ordinal), "started": identity.started?.description,
            "duration_ns": durationNanoseconds.map { Int64(clamping: $0) }, "ending": verdict.end.rawValue, "evidence": verdict.evidence,
            "certainty": certainty.rawValue, "signal": verdict.signal?.name, "exit_code": verdict.exitCode, "kind": crash?.finestKind ?? verdict.kind,
            "message": report.said, "place": report.place, "headline": report.headline, "is_degraded": isDegraded, "is_damaged": report.isDamaged,
            "fingerprint": fingerprint, "path": report.path, "now": now,
        ])
    }

    private static let insertFingerprint = """
        INSERT INTO fingerprint (fingerprint, app, ending, headline, place) VALUES (?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO NOTHING
        """

    private static let columns = [
        "version", "build_id", "started", "duration_ns", "ending", "evidence", "certainty", "signal", "exit_code", "kind", "message", "place", "headline",
        "is_degraded", "is_damaged", "fingerprint", "path",
    ]

    private static let insert = """
        INSERT INTO run (uuid, device_id, app, number, first_collected, last_collected, \(columns.joined(separator: ", ")))
        VALUES (:uuid, :device_id, :app, :number, :now, :now, \(columns.map { ":" + $0 }.joined(separator: ", ")))
        ON CONFLICT (uuid) DO UPDATE SET last_collected = excluded.last_collected, \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        WHERE excluded.is_damaged <= run.is_damaged AND excluded.certainty >= run.certainty
            OR run.certainty = \(Certainty.alive.rawValue) AND excluded.certainty >= \(Certainty.recorded.rawValue)
        """
}
