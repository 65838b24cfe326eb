internal import GRDB

/// How often two versions of an application died of the same.
struct VersionChange {
    enum Kind: String, CaseIterable {
        /// In the order in which they are shown.
        case new, more, gone, less, same
    }

    var kind: Kind
    /// Runs of the fingerprint, and all runs, of the older and of the newer version.
    var oldRuns: Int
    var newRuns: Int
    var oldTotal: Int
    var newTotal: Int
    /// The fingerprint in the older version, where it was another one: the code has changed since.
    var oldFingerprint: String?

    /// Nil: neither version has such a run.
    init?(oldRuns: Int, newRuns: Int, oldTotal: Int, newTotal: Int, oldFingerprint: String? = nil) {
        guard oldRuns + newRuns > 0 else { return nil }
        (self.oldRuns, self.newRuns, self.oldTotal, self.newTotal, self.oldFingerprint) = (oldRuns, newRuns, oldTotal, newTotal, oldFingerprint)
        kind =
            if oldRuns == 0 { .new } else if newRuns == 0 { .gone } else {
                switch Self.deviations(oldRuns, newRuns, oldTotal, newTotal) {
                case 2...: .more
                case ...(-2): .less
                default: .same
                }
            }
    }

    /// The difference of the two shares, in standard errors of it: beyond two, chance is no good
    /// explanation.
    private static func deviations(_ oldRuns: Int, _ newRuns: Int, _ oldTotal: Int, _ newTotal: Int) -> Double {
        let (old, new) = (Double(oldTotal), Double(newTotal))
        let share = Double(oldRuns + newRuns) / (old + new)
        let error = (share * (1 - share) * (1 / old + 1 / new)).squareRoot()
        return error > 0 ? (Double(newRuns) / new - Double(oldRuns) / old) / error : 0
    }
}

/// The runs of two versions.
struct VersionPair {
    let old: String
    let new: String
    /// By application.
    private var totals: [String: (old: Int, new: Int)] = [:]
    private var runs: [String: (old: Int, new: Int)] = [:]
    /// By the fingerprint in the newer version, that in the older one where the code has changed.
    private var older: [String: String] = [:]

    init(_ database: Database, _ old: String, _ new: String) throws {
        (self.old, self.new) = (old, new)
        let counts = "sum(version = ?1) AS old, sum(version = ?2) AS new FROM run"
        let both = "WHERE version IN (?1, ?2)"
        for row in try Row.fetchAll(database, sql: "SELECT app, \(counts) \(both) GROUP BY app", arguments: [old, new]) {
            totals[try row.value("app")] = (try row.value("old"), try row.value("new"))
        }
        var causes: [Cause: [String]] = [:]
        let sql = "SELECT fingerprint, \(Cause.columns), \(counts) \(both) AND fingerprint IS NOT NULL GROUP BY fingerprint"
        for row in try Row.fetchAll(database, sql: sql, arguments: [old, new]) {
            runs[try row.value("fingerprint")] = (try row.value("old"), try row.value("new"))
            if let cause = try Cause(row) { causes[cause, default: []].append(try row.value("fingerprint")) }
        }
        for fingerprints in causes.values {
            let gone = fingerprints.filter { runs[$0]?.new == 0 }, new = fingerprints.filter { runs[$0]?.old == 0 }
            // With several it is not known which became which.
            if gone.count == 1, new.count == 1 { older[new[0]] = gone[0] }
        }
    }

    /// Whether an application has runs of both versions, so that there is something to compare.
    func isComparable(_ app: String?) -> Bool {
        totals.contains { (app == nil || $0.key == app) && $0.value.old > 0 && $0.value.new > 0 }
    }

    /// Nil: there is nothing to compare, or another fingerprint stands for it.
    func change(of group: FingerprintGroup) -> VersionChange? {
        guard let total = totals[group.app], total.old > 0, total.new > 0, let own = runs[group.fingerprint], !older.values.contains(group.fingerprint) else { return nil }
        let before = older[group.fingerprint]
        return VersionChange(
            oldRuns: before.flatMap { runs[$0]?.old } ?? own.old, newRuns: own.new, oldTotal: total.old, newTotal: total.new, oldFingerprint: before)
    }
}
