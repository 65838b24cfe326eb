internal import GRDB
import LaunchGuardReportModel

/// The runs of one bug.
struct BugGroup {
    var bug: String
    var app: String
    var ending: String
    var kind: String?
    var headline: String
    var place: String?
    var runs: Int
    /// All runs of the versions that have it.
    var total = 0
    var devices: Int
    var firstStarted: String?
    var lastStarted: String?
    /// The most frequent first.
    var fingerprints: [String] = []
    /// The oldest first.
    var versions: [Part] = []
    var decision: Decision?
    /// Runs that have the bug although it was resolved.
    var again: Part?
    /// Runs a day; the last one is `trendEnd`.
    var trend: [Int] = []
    var trendEnd: String?
    /// The last week and the one before.
    var recent: Change?
    /// Only of a comparison.
    var change: Change?

    /// Runs of one version, or of one device.
    struct Part {
        var name: String
        /// Nil: the program names none.
        var version: String?
        /// For a device without a name: the argument that only this device was last collected from.
        var source: String?
        var runs: Int
        var devices: Int
        var firstStarted: String?
        var lastStarted: String?

        /// A person knows a device by its tarball sooner than by a machine id.
        var label: String {
            source?.split(separator: "/").last.map { "\(name) (\($0))" } ?? name
        }
    }

    /// A row of the view `ranking`.
    init(_ row: Row) throws {
        bug = try row.value("bug")
        app = try row.value("app")
        ending = try row.value("ending")
        kind = try row.value("kind")
        headline = try row.value("headline")
        place = try row.value("place")
        runs = try row.value("runs")
        devices = try row.value("devices")
        firstStarted = try row.value("first_started")
        lastStarted = try row.value("last_started")
        decision = try Decision(row)
    }

    /// Bugs with all that is known of them: those of most devices first, then those that take the
    /// largest share of the runs.
    static func all(_ database: Database, app: String? = nil, bug: String? = nil) throws -> [BugGroup] {
        let trend = try Trend(database, app: app, bug: bug)
        let condition = "WHERE (?1 IS NULL OR app = ?1) AND (?2 IS NULL OR bug = ?2)"
        let (orders, totals) = try versions(database)
        var parts: [String: [Part]] = [:], fingerprints: [String: [String]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT * FROM bug_version \(condition) ", arguments: [app, bug]) {
            let version: String? = try row.value("version")
            parts[try row.value("bug"), default: []].append(
                Part(
                    name: version ?? "without a version", version: version, runs: try row.value("runs"), devices: try row.value("devices"),
                    firstStarted: try row.value("first_started"), lastStarted: try row.value("last_started")))
        }
        let sql = "SELECT bug, fingerprint FROM run \(condition) AND bug IS NOT NULL AND fingerprint IS NOT NULL GROUP BY bug, fingerprint ORDER BY count(*) DESC, fingerprint"
        for row in try Row.fetchAll(database, sql: sql, arguments: [app, bug]) { fingerprints[try row.value("bug"), default: []].append(try row.value("fingerprint")) }
        let ranking = "SELECT * FROM ranking \(condition) ORDER BY last_started DESC, bug"
        let groups = try Row.fetchAll(database, sql: ranking, arguments: [app, bug]).map { row in
            var group = try BugGroup(row)
            let order = orders[group.app] ?? VersionOrder(firstStarted: [:])
            group.versions = order.sorted(parts[group.bug] ?? [], by: \.version)
            group.total = group.versions.map { totals[group.app]?[$0.version] ?? 0 }.reduce(0, +)
            group.fingerprints = fingerprints[group.bug] ?? []
            group.again = group.decision?.again(in: group.versions, order)
            (group.trend, group.trendEnd) = (trend.of(group.bug), trend.end)
            group.recent = trend.change(of: group.bug, app: group.app)
            return group
        }
        return groups.enumerated().sorted { ($0.element.devices, $0.element.share, -$0.offset) > ($1.element.devices, $1.element.share, -$1.offset) }.map(\.element)
    }

    private var share: Double { Double(runs) / Double(max(total, 1)) }

    /// By application: the order of its versions, and the runs of each version; nil: of none.
    static func versions(_ database: Database) throws -> (orders: [String: VersionOrder], totals: [String: [String?: Int]]) {
        var orders: [String: VersionOrder] = [:], totals: [String: [String?: Int]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT app, version, runs, first_started FROM version") {
            let app: String = try row.value("app"), version: String? = try row.value("version")
            totals[app, default: [:]][version] = try row.value("runs")
            guard let version, let first: String = try row.value("first_started") else { continue }
            orders[app, default: VersionOrder(firstStarted: [:])].firstStarted[version] = first
        }
        return (orders, totals)
    }

    /// As many digits as a person copies; four would be enough for most fleets.
    static let shortDigits = 12
    static func short(_ key: String) -> String { String(key.prefix(shortDigits)) }
    var shortKey: String { Self.short(bug) }

    // MARK: - Decided

    /// "muted", "resolved" or "again"; nil: it is open.
    var state: String? { decision.map { again == nil ? $0.state.rawValue : "again" } }

    /// Whether nobody needs to look at it.
    var isDone: Bool { decision != nil && again == nil }

    var stateWords: String? {
        decision.map { decision in
            let when = decision.version.map { " in \($0)" } ?? (decision.state == .resolved ? " on \(decision.decided.prefix(10))" : "")
            return decision.state.rawValue + when + (again.map { ", seen again in \($0.name)" } ?? "")
        }
    }

    // MARK: - In words

    var counts: String { "\(devices == 1 ? "1 device" : "\(devices) devices"), \(runs)×" }

    /// No line breaks in it.
    var shareWords: String { Binomial.percent(share) + "\u{A0}%" }

    /// The headline, and the place where that is not in it.
    var cause: String { headline + (place.map { headline.contains($0.prefix { $0 != "(" }) ? "" : ", \($0)" } ?? "") }

    /// The versions with their runs, the last seen ones where there are many.
    var versionWords: String {
        let most = 4
        let shown = versions.suffix(most).map { versions.count == 1 ? $0.name : "\($0.name) (\($0.runs)×)" }.joined(separator: ", ")
        return versions.count > most ? "\(versions.count) versions from \(versions[0].name): … \(shown)" : shown
    }

    var seenWords: String { [firstStarted, lastStarted].compactMap { $0.map { $0.prefix(19) + "Z" } }.joined(separator: " to ") }
}
