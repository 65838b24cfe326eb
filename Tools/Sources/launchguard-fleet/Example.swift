internal import GRDB
import LaunchGuardReports
import ToolParts

/// The whole report of the best run of a fingerprint.
struct Example {
    private let fingerprint: String
    private let run: CollectedRun
    private var report: RunReport

    /// Reads the rest of the file; nil: that is gone meanwhile.
    init?(_ run: CollectedRun, _ fingerprint: String) {
        guard let report = try? Reader(path: run.report.path).run(), report.identity?.uuid == run.report.identity?.uuid else { return nil }
        self.run = run
        self.fingerprint = fingerprint
        self.report = report
        self.report.verdict = run.report.verdict
        self.report.fingerprint = run.coarse
    }

    /// One look for all of them.
    static func addSymbols(to examples: inout [Example], _ symbols: SymbolOptions) {
        var reports = examples.map(\.report)
        symbols.apply(to: &reports, everyStack: true)
        for (index, report) in zip(examples.indices, reports) { examples[index].report = report }
    }

    func store(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO example (fingerprint, run_uuid, completeness, report)
                SELECT fingerprint, uuid, ?3, ?4 FROM run WHERE fingerprint = ?1 AND uuid = ?2
                ON CONFLICT (fingerprint) DO UPDATE SET run_uuid = excluded.run_uuid, completeness = excluded.completeness, report = excluded.report
                """,
            arguments: [fingerprint, report.identity?.uuid, run.completeness, JSONLine.text(report)])
        // A copy that changed nothing, as it knows less of the end, may have another fingerprint.
        guard database.changesCount > 0 else { return }
        try database.execute(
            sql: "UPDATE fingerprint SET headline = ?, place = ? WHERE fingerprint = ?", arguments: [run.report.headline, run.report.place, fingerprint])
    }
}
