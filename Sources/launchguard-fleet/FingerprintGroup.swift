internal import GRDB
import LaunchGuardReports

/// The runs of one fingerprint.
struct FingerprintGroup: Encodable {
    let schema = RunReport.currentSchema
    let type = "fleet-fingerprint"
    var fingerprint: String
    var app: String
    var ending: String
    var runs: Int
    var devices: Int
    var firstStarted: String?
    var lastStarted: String?
    /// Versions of the first and of the last run.
    var firstVersion: String?
    var lastVersion: String?
    var headline: String
    var place: String?
    /// Other fingerprints with the same end, signal, kind and place, the newest first.
    var samePlace: [String]?
    /// Runs a day; the last one is `trendEnd`.
    var trend: [Int]
    var trendEnd: String?
    /// Only of a comparison.
    var change: VersionChange?

    /// A row of the view `ranking`.
    init(_ row: Row) {
        fingerprint = row["fingerprint"]
        app = row["app"]
        ending = row["ending"]
        runs = row["runs"]
        devices = row["devices"]
        firstStarted = row["first_started"]
        lastStarted = row["last_started"]
        firstVersion = row["first_version"]
        lastVersion = row["last_version"]
        headline = row["headline"]
        place = row["place"]
        trend = []
    }

    /// As many digits as a person copies; four would be enough for most fleets.
    static let shortDigits = 12
    var shortFingerprint: String { String(fingerprint.prefix(Self.shortDigits)) }

    var samePlaceWords: String? {
        guard let samePlace else { return nil }
        let shown = samePlace.prefix(3).map { $0.prefix(Self.shortDigits) }.joined(separator: ", ")
        return shown + (samePlace.count > 3 ? " and \(samePlace.count - 3) more" : "")
    }

    var versions: String {
        switch (firstVersion, lastVersion) {
        case (let first?, let last?) where first != last: "\(first) – \(last)"
        case (let first, let last): last ?? first ?? ""
        }
    }
}
