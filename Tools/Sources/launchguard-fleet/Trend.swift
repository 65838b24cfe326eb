internal import GRDB
import LaunchGuardReportModel

/// The runs of each bug on the last days.
struct Trend {
    static let days = 14

    /// The last day: of the newest run, but none in the future, where the clock of a device may be.
    let end: String?
    private var counts: [String: [Int]] = [:]
    /// In the last week, and in the one before, how many devices had it on how many days. A crash
    /// loop on one device is one such day.
    private var weeks: [String: Weeks] = [:]
    /// By application, how many devices had a run on how many days.
    private var totals: [String: Weeks] = [:]

    private struct Weeks {
        var earlier = 0
        var later = 0
    }

    init(_ database: Database, app: String? = nil, bug: String? = nil) throws {
        let today = String(Timestamp.now.description.prefix(10))
        end = try String.fetchOne(database, sql: "SELECT substr(max(started), 1, 10) FROM run WHERE started < ?", arguments: [today + "U"])
        guard let end else { return }
        func rows(_ name: String, _ condition: String) throws -> [Row] {
            try Row.fetchAll(
                database,
                sql: """
                    SELECT \(name) AS name, CAST(julianday(?1) - julianday(substr(started, 1, 10)) AS INTEGER) AS age, count(*) AS runs,
                        count(DISTINCT device_id) AS devices
                    FROM run WHERE \(condition) AND (?3 IS NULL OR app = ?3) AND (?4 IS NULL OR ?4 = ?4) AND started >= date(?1, ?2) AND started < ?1 || 'U' GROUP BY 1, 2
                    """,
                arguments: [end, "-\(Self.days - 1) days", app, bug])
        }
        func add(_ row: Row, to weeks: inout [String: Weeks]) throws {
            let (name, age, devices): (String, Int, Int) = (try row.value("name"), try row.value("age"), try row.value("devices"))
            if age < Self.days / 2 { weeks[name, default: Weeks()].later += devices } else { weeks[name, default: Weeks()].earlier += devices }
        }
        for row in try rows("bug", bug == nil ? "bug IS NOT NULL" : "bug = ?4") {
            let age: Int = try row.value("age")
            guard (0..<Self.days).contains(age) else { continue }
            counts[try row.value("name"), default: Self.empty][Self.days - 1 - age] = try row.value("runs")
            try add(row, to: &weeks)
        }
        for row in try rows("app", "1") { try add(row, to: &totals) }
    }

    private static let empty = [Int](repeating: 0, count: days)

    func of(_ bug: String) -> [Int] { end == nil ? [] : counts[bug] ?? Self.empty }

    /// Nil: no run of the application is known of one of the weeks.
    func change(of bug: String, app: String) -> Change? {
        guard let total = totals[app], total.earlier > 0, total.later > 0 else { return nil }
        let own = weeks[bug] ?? Weeks()
        return Change(old: own.earlier, of: total.earlier, new: own.later, of: total.later)
    }

    /// Drawn in one line of a terminal; a day without a run is a dot.
    static func drawn(_ counts: [Int]) -> String {
        let most = counts.max() ?? 0
        return counts.map { $0 == 0 ? "·" : blocks[max(0, ($0 * blocks.count + most - 1) / most - 1)] }.joined()
    }

    private static let blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}
