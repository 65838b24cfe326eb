internal import GRDB
import LaunchGuardReports

/// The runs of each fingerprint on the last days.
struct Trend {
    static let days = 14

    /// The last day: of the newest run, but none in the future, where the clock of a device may be.
    let end: String?
    private var counts: [String: [Int]] = [:]

    init(_ database: Database) throws {
        let today = String(Timestamp.now.description.prefix(10))
        end = try String.fetchOne(database, sql: "SELECT substr(max(started), 1, 10) FROM run WHERE started < ?", arguments: [today + "U"])
        guard let end else { return }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT fingerprint, CAST(julianday(?1) - julianday(substr(started, 1, 10)) AS INTEGER) AS age, count(*) AS runs FROM run
                WHERE fingerprint IS NOT NULL AND started >= date(?1, ?2) AND started < ?1 || 'U' GROUP BY 1, 2
                """,
            arguments: [end, "-\(Self.days - 1) days"])
        for row in rows {
            let age: Int = try row.value("age")
            guard (0..<Self.days).contains(age) else { continue }
            counts[try row.value("fingerprint"), default: Self.empty][Self.days - 1 - age] = try row.value("runs")
        }
    }

    private static let empty = [Int](repeating: 0, count: days)

    func of(_ fingerprint: String) -> [Int] { end == nil ? [] : counts[fingerprint] ?? Self.empty }

    /// Drawn in one line of a terminal; a day without a run is a dot.
    static func drawn(_ counts: [Int]) -> String {
        let most = counts.max() ?? 0
        return counts.map { $0 == 0 ? "·" : blocks[max(0, ($0 * blocks.count + most - 1) / most - 1)] }.joined()
    }

    private static let blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}
