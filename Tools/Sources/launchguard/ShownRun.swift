import LaunchGuardReportModel

/// A run with its symbols and the state of its reports, as `inspect` shows it and `export` writes
/// it.
struct ShownRun {
    let report: RunReport
    private let surroundings: Surroundings
    private let delivery: [DeliveryEntry]

    /// Facts about a run from its state directory. The parts that are asked for are read once for
    /// all runs: the ledger of 10,000 runs costs a look at each of them.
    final class Surroundings {
        private let directory: StateDirectory?
        private(set) lazy var deliveries = directory?.runDeliveries()
        private(set) lazy var ledger = try? directory?.ledger()

        init(ofRun path: String) {
            directory = StateDirectory(ofRun: path)
        }
    }

    init(_ run: RunReport, _ symbols: SymbolOptions, _ surroundings: Surroundings) {
        var reports = [run]
        symbols.apply(to: &reports, everyStack: true)
        report = reports[0]
        self.surroundings = surroundings
        delivery = run.identity.flatMap { surroundings.deliveries?.entries(ofRun: $0.uuid, ordinal: $0.ordinal, path: run.path, verdict: run.verdict) } ?? []
    }

    /// One line, with its end.
    var json: String { JSONLine.text(Delivered(report: report, delivery: delivery.isEmpty ? nil : delivery)) + "\n" }

    /// The page, with the launches of the run's state directory where that is at hand.
    var page: HTMLPage {
        let ledger = surroundings.ledger
        return HTMLPage(report, ledger: ledger?.appID == nil ? nil : ledger, deliveries: delivery)
    }

    /// The entries of systemd's journal.
    var journal: JournalExport { JournalExport(report) }

    /// In the shape of the Swift runtime's own log; nil: the run did not crash, or left no record.
    var swiftLog: SwiftCrashLog? { SwiftCrashLog(report) }

    func write(to writer: inout TextWriter, lines: Int? = nil, includesMap: Bool = false) {
        report.write(to: &writer, breadcrumbLimit: lines ?? 20, includesMap: includesMap, deliveries: delivery)
    }
}
