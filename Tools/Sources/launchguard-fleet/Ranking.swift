internal import GRDB
import LaunchGuardReports
import ToolParts

/// Causes of the ends in a fleet, the most frequent first; between two versions, new ones first.
struct Ranking {
    private(set) var groups: [FingerprintGroup]
    /// Figures of all requested applications.
    private let figures: Figures
    private let pair: VersionPair?
    private let app: String?
    /// Possible arguments where there is nothing to show: applications, or versions of one.
    private let known: [String]
    /// Groups that `lines` leaves out.
    private let left: Int

    private struct Figures {
        var runs: Int
        var died: Int
        var devices: Int
    }

    init(_ database: FleetDatabase, app: String?, pair: (old: String, new: String)?, lines: Int?) throws {
        (groups, figures, self.pair, known) = try database.read { database in
            let trend = try Trend(database)
            let pair = try pair.map { try VersionPair(database, $0.old, $0.new) }
            let order = "WHERE ?1 IS NULL OR app = ?1 ORDER BY runs DESC, last_started DESC, fingerprint"
            var groups = try Row.fetchAll(database, sql: "SELECT * FROM ranking \(order)", arguments: [app]).map(FingerprintGroup.init)
            let others = pair == nil ? try Cause.others(database) : [:]
            for index in groups.indices {
                groups[index].samePlace = others[groups[index].fingerprint]
                groups[index].trend = trend.of(groups[index].fingerprint)
                groups[index].trendEnd = trend.end
            }
            if let pair { groups = Self.changed(groups, pair) }
            let row = try Row.fetchOne(
                database, sql: "SELECT count(*) AS runs, count(fingerprint) AS died, count(DISTINCT device_id) AS devices FROM run WHERE ?1 IS NULL OR app = ?1",
                arguments: [app])
            let figures = try row.map { Figures(runs: try $0.value("runs"), died: try $0.value("died"), devices: try $0.value("devices")) } ?? Figures(runs: 0, died: 0, devices: 0)
            let column = figures.runs == 0 ? "app" : "version", condition = figures.runs == 0 ? "" : "WHERE ?1 IS NULL OR app = ?1"
            let sql = "SELECT \(column) FROM version \(condition) GROUP BY 1 HAVING \(column) IS NOT NULL ORDER BY max(last_started) DESC LIMIT 10"
            return (groups, figures, pair, groups.isEmpty ? try String.fetchAll(database, sql: sql, arguments: condition.isEmpty ? [] : [app]) : [])
        }
        self.app = app
        left = max(0, groups.count - (lines ?? groups.count))
        groups.removeLast(left)
    }

    private static func changed(_ groups: [FingerprintGroup], _ pair: VersionPair) -> [FingerprintGroup] {
        let changed = groups.compactMap { group in
            pair.change(of: group).map { change in
                var group = group
                group.change = change
                return group
            }
        }
        return VersionChange.Kind.allCases.flatMap { kind in
            changed.filter { $0.change?.kind == kind }
                .sorted { ($0.change?.newRuns ?? 0, $0.change?.oldRuns ?? 0) > ($1.change?.newRuns ?? 0, $1.change?.oldRuns ?? 0) }
        }
    }

    /// Why there is nothing to show.
    var emptyWords: String {
        let place = app.map { " of \($0)" } ?? ""
        let others = known.isEmpty ? "" : "; it has \(known.joined(separator: ", "))"
        if figures.runs == 0 { return "it has no run\(place)\(others)" }
        guard let pair else { return "no run\(place) died" }
        let both = "runs of both versions, \(pair.old) and \(pair.new)\(others)"
        guard pair.isComparable(app) else { return app.map { "\($0) has no \(both)" } ?? "no application has \(both)" }
        return "no run\(place) of \(pair.old) or \(pair.new) died"
    }

    // MARK: - As text

    func write(to writer: inout TextWriter) {
        guard !groups.isEmpty else { return }
        writer.line(summary, .bold)
        let isOneApp = Set(groups.map(\.app)).count == 1
        let width = groups.map(\.counts.count).max() ?? 0
        let versions = groups.map(\.versions.count).max() ?? 0
        for group in groups {
            writer.endLine()
            if let change = group.change { writer.add(change.kind.rawValue, width: 6, change.kind.style) }
            writer.add(group.counts, width: width + 2, .bold)
            // Before what a narrow terminal cuts, as show asks for it.
            writer.add(group.shortFingerprint + "  ", .dim)
            if versions > 0 { writer.add(group.versions, width: versions + 2) }
            writer.line((group.trend.isEmpty ? "" : Trend.drawn(group.trend)) + (isOneApp ? "" : "  " + group.app))
            writer.line("  " + group.cause)
            if let words = group.samePlaceWords { writer.line("  the same place as \(words)", .dim) }
            if let change = group.change { writer.line("  \(change.words(pair))", .dim) }
        }
        if left > 0 || groups.first?.trendEnd != nil { writer.endLine() }
        if let end = groups.first?.trendEnd { writer.line("bars: runs a day, \(Trend.days) days up to \(end), each row on a scale of its own", .dim) }
        if left > 0 { writer.line("\(left) more; -n shows as many as you say", .dim) }
    }

    private var summary: String {
        let subject = groups.first.map { group in groups.allSatisfy { $0.app == group.app } ? group.app : "\(Set(groups.map(\.app)).count) applications" } ?? ""
        let runs = figures.runs == 1 ? "1 run" : "\(figures.runs) runs"
        let devices = figures.devices == 1 ? "1 device" : "\(figures.devices) devices"
        return "\(subject): \(figures.died) of \(runs) on \(devices) died" + (pair.map { "; \($0.old) and \($0.new) compared" } ?? "")
    }

    // MARK: - As a page

    var page: FiguresPage {
        var page = FiguresPage(title: "What a fleet died of", subtitle: summary)
        let apps = Set(groups.map(\.app)).count > 1
        let columns = ["Runs", "Cause"] + (pair == nil ? [] : ["Change"]) + ["Trend", "Devices", "Versions"] + (apps ? ["Application"] : []) + ["Fingerprint"]
        let rows = groups.map { group -> [FiguresPage.Cell] in
            let change = group.change.map { [FiguresPage.Cell.marked($0.kind.rawValue, $0.kind.style, $0.words(pair))] } ?? []
            let cause = group.cause + (group.samePlaceWords.map { "; the same place as \($0)" } ?? "")
            let app = apps ? [FiguresPage.Cell.text(group.app)] : []
            return [.number(group.runs), .text(cause)] + change + [.bars(group.trend), .number(group.devices), .text(group.versions)] + app + [.fingerprint(group.fingerprint)]
        }
        let note = groups.first?.trendEnd.map { "The trend is the runs a day of the \(Trend.days) days up to \($0), each on a scale of its own." }
        page.tables.append(.init(id: "ranking", title: pair.map { "\($0.old) and \($0.new)" } ?? "The most frequent first", columns: columns, rows: rows, note: note))
        return page
    }
}

extension FingerprintGroup {
    var counts: String { "\(runs)× on \(devices == 1 ? "1 device" : "\(devices) devices")" }

    /// The headline, and the place where that is not in it.
    var cause: String { headline + (place.map { headline.contains($0.prefix { $0 != "(" }) ? "" : ", \($0)" } ?? "") }
}

extension VersionChange {
    /// For example "3 of 120 runs of 1.4.1, 40 of 130 of 1.4.2".
    func words(_ pair: VersionPair?) -> String {
        guard let pair else { return "" }
        let before = oldFingerprint.map { " (as \($0.prefix(FingerprintGroup.shortDigits)))" } ?? ""
        return "\(oldRuns) of \(oldTotal) runs of \(pair.old)\(before), \(newRuns) of \(newTotal) of \(pair.new)"
    }
}

extension VersionChange.Kind {
    var style: TextWriter.Style {
        switch self {
        case .new, .more: .red
        case .gone, .less: .green
        case .same: .plain
        }
    }
}
