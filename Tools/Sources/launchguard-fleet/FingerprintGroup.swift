internal import GRDB

/// The runs of one fingerprint.
struct FingerprintGroup {
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
    init(_ row: Row) throws {
        fingerprint = try row.value("fingerprint")
        app = try row.value("app")
        ending = try row.value("ending")
        runs = try row.value("runs")
        devices = try row.value("devices")
        firstStarted = try row.value("first_started")
        lastStarted = try row.value("last_started")
        firstVersion = try row.value("first_version")
        lastVersion = try row.value("last_version")
        headline = try row.value("headline")
        place = try row.value("place")
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
