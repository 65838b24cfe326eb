import LaunchGuardReports

/// A run with its symbols and the state of its reports, as `inspect` shows it and `export` writes
/// it.
struct ShownRun {
    private let report: RunReport
    private let delivery: [DeliveryEntry]?

    init(_ run: RunReport, _ symbols: SymbolOptions) {
        var reports = [run]
        symbols.apply(to: &reports)
        report = reports[0]
        delivery = run.identity.flatMap { StateDirectory(ofRun: run.path)?.deliveriesByRun()[$0.uuid] }
    }

    /// One line, with its end.
    var json: String { JSONLine.text(Delivered(report: report, delivery: delivery)) + "\n" }

    /// The page, with the launches of the run's state directory where that is at hand.
    var page: HTMLPage {
        let ledger = try? StateDirectory(ofRun: report.path)?.ledger()
        return HTMLPage(report, ledger: ledger?.appID == nil ? nil : ledger, deliveries: delivery ?? [])
    }

    /// The entries of systemd's journal.
    var journal: JournalExport { JournalExport(report) }

    /// In the shape of the Swift runtime's own log; nil: the run did not crash, or left no record.
    var swiftLog: SwiftCrashLog? { SwiftCrashLog(report) }

    func write(to writer: inout TextWriter, lines: Int? = nil, includesMap: Bool = false) {
        report.write(to: &writer, breadcrumbLimit: lines ?? 20, includesMap: includesMap, deliveries: delivery ?? [])
    }
}
