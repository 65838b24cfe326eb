internal import GRDB
import LaunchGuardReportModel

/// A run as it was read, with what its device knew of it.
struct CollectedRun: Sendable {
    var report: RunReport
    /// Nil: it ended as somebody wished, or it lives, or its file does not show a fingerprint.
    var fingerprint: String?
    var certainty: Certainty
    /// Nil: the run did not die.
    private(set) var key: RowKey?
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
        var report = try reader.summary(withAnnotations: true)
        guard let uuid = report.identity?.uuid, let own = report.verdict else { return nil }
        let entry = timeline[uuid]
        if let entry, own.end != .running { report.verdict = entry.verdict }
        let verdict = report.verdict ?? own
        certainty = own.end == .running ? .alive : entry != nil ? .counted : Self.isConclusion(own) ? .concluded : .recorded
        fingerprint = verdict.end.isBad ? deliveries[uuid] ?? (verdict == own ? reader.fingerprint : reader.fingerprint(endedAs: verdict)) : nil
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

// MARK: - As a row

extension CollectedRun {
    /// The key of the bug, once the report has its symbols.
    mutating func makeKey() { key = report.verdict?.end.isBad == true ? RowKey(report, coarse: fingerprint) : nil }

    /// Makes the rows of bugs of which the run is the first.
    func storeBugs(_ keys: Set<String>, _ database: Database) throws {
        guard let identity = report.identity, let verdict = report.verdict else { return }
        for key in keys {
            try database.cachedStatement(sql: Self.insertBug).execute(arguments: [
                key, identity.appID, verdict.end.rawValue, kind, commonHeadline, report.place,
            ])
        }
    }

    private var kind: String? { report.fatalCrash?.finestKind ?? report.verdict?.kind }

    /// The sentence, without what differs from run to run.
    private var commonHeadline: String { report.headline.withoutAddress }

    /// Puts the run into its row. A copy that is damaged, or knows less of the end, changes
    /// nothing; but a recorded end counts for more than that the run lived once, in a damaged file
    /// too.
    func store(_ database: Database, device: Int64, bug: String?, at now: String) throws {
        guard let identity = report.identity, let verdict = report.verdict else { return }
        let system = report.system
        let distribution = [system?.distribution, system?.distributionVersion].compactMap(\.self).joined(separator: " ")
        try database.cachedStatement(sql: Self.insert).execute(arguments: [
            "uuid": identity.uuid, "device_id": device, "app": identity.appID, "version": identity.appVersion, "build_id": identity.buildID,
            "machine_id": system?.machineID, "boot_id": identity.bootID,
            "number": Int64(clamping: identity.ordinal), "started": identity.started?.description,
            "duration_ns": durationNanoseconds.map { Int64(clamping: $0) }, "ending": verdict.end.rawValue, "evidence": verdict.evidence,
            "certainty": certainty.rawValue, "signal": verdict.signal?.name, "exit_code": verdict.exitCode, "kind": kind,
            "message": report.said, "place": report.place, "headline": report.headline, "is_degraded": isDegraded, "is_damaged": report.isDamaged,
            "is_short_of_memory": identity.memoryPressure != nil, "fingerprint": fingerprint, "key": key?.key, "bug": bug,
            "system": distribution.isEmpty ? nil : distribution, "kernel": system?.kernel, "hardware": system?.hardware, "model": system?.model,
            "path": report.path, "now": now,
        ])
        guard database.changesCount > 0 else { return }
        try database.cachedStatement(sql: "DELETE FROM annotation WHERE run_uuid = ?").execute(arguments: [identity.uuid])
        for annotation in report.annotations ?? [] {
            guard !annotation.isRedacted, let value = annotation.value else { continue }
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO annotation (run_uuid, name, value) VALUES (?, ?, ?)").execute(arguments: [
                identity.uuid, annotation.key, value,
            ])
        }
    }

    func storeHeadline(_ database: Database) throws {
        guard let key else { return }
        try database.execute(sql: "UPDATE bug SET headline = ?, place = ? WHERE key = ?", arguments: [commonHeadline, report.place, key.key])
    }

    private static let insertBug = """
        INSERT INTO bug (key, app, ending, kind, headline, place) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING
        """

    private static let columns = [
        "version", "build_id", "machine_id", "boot_id", "started", "duration_ns", "ending", "evidence", "certainty", "signal", "exit_code", "kind", "message",
        "place", "headline", "is_degraded", "is_damaged", "is_short_of_memory", "fingerprint", "key", "bug", "system", "kernel", "hardware", "model", "path",
    ]

    private static let insert = """
        INSERT INTO run (uuid, device_id, app, number, first_collected, last_collected, \(columns.joined(separator: ", ")))
        VALUES (:uuid, :device_id, :app, :number, :now, :now, \(columns.map { ":" + $0 }.joined(separator: ", ")))
        ON CONFLICT (uuid) DO UPDATE SET last_collected = excluded.last_collected, \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        WHERE excluded.is_damaged <= run.is_damaged AND excluded.certainty >= run.certainty
            OR run.certainty = \(Certainty.alive.rawValue) AND excluded.certainty >= \(Certainty.recorded.rawValue)
        """
}

extension String {
    /// A sentence of many runs names no address of one.
    var withoutAddress: String {
        guard let range = firstRange(of: " at address 0x") else { return self }
        return String(self[..<range.lowerBound] + self[range.upperBound...].drop(while: \.isHexDigit))
    }
}
