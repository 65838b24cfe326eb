internal import GRDB
import LaunchGuardReportModel
import ToolParts

/// The whole report of the best run of a key.
struct Example {
    private let key: String
    private let run: CollectedRun
    private var report: RunReport

    /// Reads the rest of the file; nil: that is gone meanwhile.
    init?(_ run: CollectedRun, key: String) {
        guard let report = try? Reader(path: run.report.path).run(), report.identity?.uuid == run.report.identity?.uuid else { return nil }
        self.run = run
        self.key = key
        self.report = report
        self.report.verdict = run.report.verdict
        self.report.fingerprint = run.fingerprint
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
                INSERT INTO example (key, run_uuid, completeness, report)
                SELECT key, uuid, ?3, ?4 FROM run WHERE key = ?1 AND uuid = ?2
                ON CONFLICT (key) DO UPDATE SET run_uuid = excluded.run_uuid, completeness = excluded.completeness, report = excluded.report
                """,
            arguments: [key, report.identity?.uuid, run.completeness, JSONLine.text(report)])
        // A copy that changed nothing, as it knows less of the end, may have another key.
        if database.changesCount > 0 { try run.storeHeadline(database) }
    }
}
