internal import GRDB

/// How often two versions of an application, or two weeks, had a bug.
struct Change {
    enum Kind: String, CaseIterable {
        /// In the order in which they are shown.
        case new, more, gone, less, same
    }

    var kind: Kind
    /// Of the bug, and all.
    var old: Int
    var new: Int
    var oldTotal: Int
    var newTotal: Int
    var ratio: RateRatio

    /// Nil: there is no such run in either.
    init?(old: Int, of oldTotal: Int, new: Int, of newTotal: Int) {
        guard old + new > 0 else { return nil }
        (self.old, self.oldTotal, self.new, self.newTotal) = (old, oldTotal, new, newTotal)
        ratio = RateRatio(old, of: oldTotal, new, of: newTotal)
        kind = if old == 0 { .new } else if new == 0 { .gone } else { ratio.isMore ? .more : ratio.isLess ? .less : .same }
    }

    /// "2.1 to 5.3 times as often".
    var ratioWords: String {
        func number(_ value: Double) -> String {
            let tenths = Int((value * 10).rounded())
            return value >= 10 || tenths % 10 == 0 ? "\(Int(value.rounded()))" : "\(tenths / 10).\(tenths % 10)"
        }
        // A bound that far away says nothing.
        guard let high = ratio.high, high < 20 * max(ratio.low, 1) else { return "at least \(number(ratio.low)) times as often" }
        return ratio.low < 0.05 ? "at most \(number(high)) times as often" : "\(number(ratio.low)) to \(number(high)) times as often"
    }

    /// What is worth a word of two weeks: a change beyond chance.
    var weekWords: String? {
        ratio.isMore || ratio.isLess ? "\(ratio.isMore ? "more" : "less") this week: \(ratioWords) as the week before" : nil
    }

    /// For example "3 of 120 runs of 1.4.1, 40 of 130 of 1.4.2".
    func words(_ pair: VersionPair?) -> String {
        guard let pair else { return "" }
        let isSure = ratio.isMore || ratio.isLess
        return "\(old) of \(oldTotal) runs of \(pair.old), \(new) of \(newTotal) of \(pair.new)" + (isSure ? ": \(ratioWords)" : "; chance may explain that")
    }
}

/// The runs of two versions.
struct VersionPair {
    let old: String
    let new: String
    /// By application.
    private var totals: [String: (old: Int, new: Int)] = [:]
    private var runs: [String: (old: Int, new: Int)] = [:]

    init(_ database: Database, _ old: String, _ new: String) throws {
        (self.old, self.new) = (old, new)
        let counts = "sum(version = ?1) AS old, sum(version = ?2) AS new FROM run"
        let both = "WHERE version IN (?1, ?2)"
        for row in try Row.fetchAll(database, sql: "SELECT app, \(counts) \(both) GROUP BY app", arguments: [old, new]) {
            totals[try row.value("app")] = (try row.value("old"), try row.value("new"))
        }
        for row in try Row.fetchAll(database, sql: "SELECT bug, \(counts) \(both) AND bug IS NOT NULL GROUP BY bug", arguments: [old, new]) {
            runs[try row.value("bug")] = (try row.value("old"), try row.value("new"))
        }
    }

    /// Whether an application has runs of both versions, so that there is something to compare.
    func isComparable(_ app: String?) -> Bool {
        totals.contains { (app == nil || $0.key == app) && $0.value.old > 0 && $0.value.new > 0 }
    }

    /// Nil: there is nothing to compare.
    func change(of group: BugGroup) -> Change? {
        guard let total = totals[group.app], total.old > 0, total.new > 0, let own = runs[group.bug] else { return nil }
        return Change(old: own.old, of: total.old, new: own.new, of: total.new)
    }
}
