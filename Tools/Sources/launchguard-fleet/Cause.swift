internal import GRDB

/// Cause of the end of runs, in words that the next build does not change.
struct Cause: Hashable {
    let app: String
    let ending: String
    let signal: String?
    let kind: String?
    let place: String

    /// Columns over the rows of one fingerprint in the table `run`.
    static let columns = "app, ending, max(signal) AS signal, max(kind) AS kind, max(place) AS place"

    /// Nil: the place is not known.
    init?(_ row: Row) throws {
        guard let place: String = try row.value("place") else { return nil }
        self.place = place
        app = try row.value("app")
        ending = try row.value("ending")
        signal = try row.value("signal")
        kind = try row.value("kind")
    }

    /// By fingerprint, the others with its cause: mostly the same crash in other builds.
    static func others(_ database: Database) throws -> [String: [String]] {
        var causes: [Cause: [String]] = [:]
        let sql = "SELECT fingerprint, \(columns) FROM run WHERE fingerprint IS NOT NULL GROUP BY fingerprint ORDER BY max(started) DESC, fingerprint"
        for row in try Row.fetchAll(database, sql: sql) {
            if let cause = try Cause(row) { causes[cause, default: []].append(try row.value("fingerprint")) }
        }
        var others: [String: [String]] = [:]
        for fingerprints in causes.values where fingerprints.count > 1 {
            for fingerprint in fingerprints { others[fingerprint] = fingerprints.filter { $0 != fingerprint } }
        }
        return others
    }
}
