internal import GRDB
import LaunchGuardReports
import ToolParts

/// The whole report of the best run of a fingerprint.
struct Example {
    private let fingerprint: String
    private let run: CollectedRun
    private let report: RunReport

    /// Reads the rest of the file; nil: that is gone meanwhile.
    init?(_ run: CollectedRun, _ fingerprint: String, _ symbols: SymbolOptions) {
        guard var whole = try? Reader(path: run.report.path).run(), whole.identity?.uuid == run.report.identity?.uuid else { return nil }
        whole.verdict = run.report.verdict
        var reports = [whole]
        symbols.apply(to: &reports)
        report = reports[0]
        self.fingerprint = fingerprint
        self.run = run
    }

    func store(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO example (fingerprint, run_uuid, completeness, report) VALUES (?, ?, ?, ?)
                ON CONFLICT (fingerprint) DO UPDATE SET run_uuid = excluded.run_uuid, completeness = excluded.completeness, report = excluded.report
                """,
            arguments: [fingerprint, report.identity?.uuid, run.completeness, JSONLine.text(report)])
        try database.execute(
            sql: "UPDATE fingerprint SET headline = ?, place = ? WHERE fingerprint = ?", arguments: [run.report.headline, run.report.place, fingerprint])
    }
}
