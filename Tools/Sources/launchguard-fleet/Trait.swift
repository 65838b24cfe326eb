internal import GRDB

/// What nearly all runs of a bug have, and the other runs of the application do not: beyond chance,
/// as their intervals of 99 % do not touch (``Binomial/interval(_:of:confidence:)``).
struct Trait {
    var name: String
    var value: String
    /// Runs of the bug that have it, and all whose value is known.
    var runs: Int
    var total: Int
    /// The same of the other runs of the application.
    var otherRuns: Int
    var otherTotal: Int

    private static let leastShare = 0.9
    private static let most = 12

    private var isCommon: Bool {
        guard Double(runs) >= Self.leastShare * Double(total) else { return false }
        return Binomial.interval(runs, of: total).lowerBound > Binomial.interval(otherRuns, of: otherTotal).upperBound
    }

    /// Those of a bug, the most telling first.
    static func of(_ bug: String, app: String, _ database: Database) throws -> [Trait] {
        let columns = [("system", "system"), ("kernel", "kernel"), ("hardware", "hardware"), ("model", "model")].map { ("'\($0.0)'", "r.\($0.1)", "") }
        let more = [("'memory'", "CASE is_short_of_memory WHEN 1 THEN 'near its limit' ELSE 'enough' END", ""), ("a.name", "a.value", "JOIN annotation a ON a.run_uuid = r.uuid")]
        var traits: [Trait] = []
        for (name, value, join) in columns + more {
            let sql = """
                SELECT \(name) AS name, \(value) AS value, sum(r.bug IS ?1) AS runs, sum(r.bug IS NOT ?1) AS others
                FROM run r \(join) WHERE r.app = ?2 AND \(value) IS NOT NULL GROUP BY 1, 2
                """
            let rows = try Row.fetchAll(database, sql: sql, arguments: [bug, app]).map { row in
                (name: try row.value("name") as String, value: try row.value("value") as String, runs: try row.value("runs") as Int, others: try row.value("others") as Int)
            }
            for (name, rows) in Dictionary(grouping: rows, by: \.name) {
                let total = rows.reduce(0) { $0 + $1.runs }, otherTotal = rows.reduce(0) { $0 + $1.others }
                guard let row = rows.max(by: { $0.runs < $1.runs }), row.value != "enough" else { continue }
                let trait = Trait(
                    name: name, value: row.value, runs: row.runs, total: total, otherRuns: row.others, otherTotal: otherTotal)
                if trait.isCommon { traits.append(trait) }
            }
        }
        func share(_ trait: Trait) -> Double { trait.otherTotal == 0 ? 0 : Double(trait.otherRuns) / Double(trait.otherTotal) }
        return Array(traits.sorted { (share($0), $0.name) < (share($1), $1.name) }.prefix(most))
    }

    var words: String {
        "\(name) \(value): \(runs == total ? "all \(total) runs" : "\(runs) of \(total) runs"), and \(otherRuns) of the \(otherTotal) others"
    }
}
