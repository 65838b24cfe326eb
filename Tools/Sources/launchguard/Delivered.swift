import LaunchGuardReportModel

/// A report of the reader with the state of its delivery and the copies that are kept, in one
/// object of JSON.
struct Delivered<Report: Encodable, Delivery: Encodable>: Encodable {
    var report: Report
    var delivery: Delivery?
    var kept: [KeptPath]?

    private enum CodingKeys: CodingKey {
        case delivery, kept
    }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(delivery, forKey: .delivery)
        try container.encodeIfPresent(kept, forKey: .kept)
    }
}

extension StateDirectory {
    /// The state directory of a run file; nil: the file is not in one.
    init?(ofRun path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let folder = parts.dropLast().last, folder == "runs" || parts.count == 1 else { return nil }
        self.init(path: parts.count == 1 ? ".." : parts.dropLast(2).isEmpty ? "." : parts.dropLast(2).joined(separator: "/"))
    }

    /// What became of the runs. A spool that cannot be read hides no run.
    func runDeliveries() -> RunDeliveries? {
        do throws(ReportError) {
            return try RunDeliveries(self)
        } catch {
            Output.complain("\(error)")
            return nil
        }
    }
}
