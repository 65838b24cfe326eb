internal import GRDB
import LaunchGuardReportModel
import ToolParts

/// The bugs of a fleet in the order of ``BugGroup/all(_:app:bug:)``; between two versions, new ones
/// first.
struct Ranking {
    private(set) var groups: [BugGroup]
    /// Of all requested applications.
    private let figures: Figures
    /// Shares of the runs without a crash, the newest version first.
    private let versions: [VersionShare]
    private let pair: VersionPair?
    private let app: String?
    /// Possible arguments where there is nothing to show: applications, or versions of one.
    private let known: [String]
    /// Groups that `lines` leaves out.
    private let left: Int
    /// Groups that are muted or resolved, and left out.
    private let done: [Decision.State: Int]

    private struct Figures {
        var runs = 0
        var died = 0
        var devices = 0
        /// Machine ids that several devices seem to have.
        var clones = 0
    }

    /// Runs of a version, and those that crashed.
    private struct VersionShare {
        var app: String
        var version: String
        var runs: Int
        var crashed: Int

        /// "97.1 % (95.2 to 98.4) of 1204 runs".
        var words: String {
            let interval = Binomial.interval(runs - crashed, of: runs, confidence: 0.95)
            let (share, low, high) = (Double(runs - crashed) / Double(max(runs, 1)), interval.lowerBound, interval.upperBound)
            return "\(Binomial.percent(share)) % (\(Binomial.percent(low)) to \(Binomial.percent(high))) of \(runs == 1 ? "1 run" : "\(runs) runs")"
        }
    }

    init(_ fleet: FleetDatabase, app: String?, pair: (old: String, new: String)?, lines: Int?, all: Bool) throws {
        let (pair, found, figures, versions) = try fleet.read { database in
            (
                try pair.map { try VersionPair(database, $0.old, $0.new) }, try BugGroup.all(database, app: app), try Self.figures(database, app),
                try Self.versions(database, app)
            )
        }
        var groups = pair.map { Self.changed(found, $0) } ?? found
        let hidden = all ? [] : groups.filter { $0.isDone && (pair == nil || $0.decision?.state == .muted) }
        let hiddenKeys = Set(hidden.map(\.bug))
        groups.removeAll { hiddenKeys.contains($0.bug) }
        done = Dictionary(grouping: hidden.compactMap(\.decision), by: \.state).mapValues(\.count)
        known = groups.isEmpty ? try fleet.read { try Self.known($0, figures.runs == 0 ? nil : app, isApp: figures.runs == 0) } : []
        left = max(0, groups.count - (lines ?? groups.count))
        groups.removeLast(left)
        (self.groups, self.figures, self.versions, self.pair, self.app) = (groups, figures, versions, pair, app)
    }

    private static func figures(_ database: Database, _ app: String?) throws -> Figures {
        let sql = """
            SELECT count(*) AS runs, count(bug) AS died, count(DISTINCT device_id) AS devices,
                (SELECT count(*) FROM machine WHERE is_cloned) AS clones FROM run WHERE ?1 IS NULL OR app = ?1
            """
        guard let row = try Row.fetchOne(database, sql: sql, arguments: [app]) else { return Figures() }
        return Figures(runs: try row.value("runs"), died: try row.value("died"), devices: try row.value("devices"), clones: try row.value("clones"))
    }

    private static func versions(_ database: Database, _ app: String?) throws -> [VersionShare] {
        let sql = "SELECT app, version, runs, crashed FROM version WHERE version IS NOT NULL AND (?1 IS NULL OR app = ?1) ORDER BY app"
        let shares = try Row.fetchAll(database, sql: sql, arguments: [app]).map { row in
            VersionShare(app: try row.value("app"), version: try row.value("version"), runs: try row.value("runs"), crashed: try row.value("crashed"))
        }
        let orders = try BugGroup.versions(database).orders
        return Dictionary(grouping: shares, by: \.app).sorted { $0.key < $1.key }.flatMap { app, shares in
            (orders[app] ?? VersionOrder(firstStarted: [:])).sorted(shares) { $0.version }.reversed()
        }
    }

    private static func known(_ database: Database, _ app: String?, isApp: Bool) throws -> [String] {
        let column = isApp ? "app" : "version"
        let sql = "SELECT \(column) FROM version WHERE ?1 IS NULL OR app = ?1 GROUP BY 1 HAVING \(column) IS NOT NULL ORDER BY max(last_started) DESC LIMIT 10"
        return try String.fetchAll(database, sql: sql, arguments: [app])
    }

    private static func changed(_ groups: [BugGroup], _ pair: VersionPair) -> [BugGroup] {
        let changed = groups.compactMap { group in
            pair.change(of: group).map { change in
                var group = group
                group.change = change
                return group
            }
        }
        return Change.Kind.allCases.flatMap { kind in
            changed.filter { $0.change?.kind == kind }
                .sorted { ($0.change?.new ?? 0, $0.change?.old ?? 0) > ($1.change?.new ?? 0, $1.change?.old ?? 0) }
        }
    }

    /// Why there is nothing to show.
    var emptyWords: String {
        let place = app.map { " of \($0)" } ?? ""
        let others = known.isEmpty ? "" : "; it has \(known.joined(separator: ", "))"
        if figures.runs == 0 { return "it has no run\(place)\(others)" }
        guard let pair else { return figures.died == 0 ? "no run\(place) died" : "all bugs\(place) are muted or resolved; --all shows them" }
        let both = "runs of both versions, \(pair.old) and \(pair.new)\(others)"
        guard pair.isComparable(app) else { return app.map { "\($0) has no \(both)" } ?? "no application has \(both)" }
        return "no run\(place) of \(pair.old) or \(pair.new) died"
    }

    // MARK: - As text

    func write(to writer: inout TextWriter) {
        guard !groups.isEmpty else { return }
        writer.line(summary, .bold)
        let apps = Set(groups.map(\.app))
        for app in apps.sorted() {
            let shares = versions.filter { $0.app == app }
            guard !shares.isEmpty else { continue }
            writer.line((apps.count > 1 ? "\(app): " : "") + "runs without a crash: " + shares.prefix(3).map { "\($0.version) \($0.words)" }.joined(separator: ", ")
                + (shares.count > 3 ? ", and \(shares.count - 3) older versions" : ""))
        }
        let width = groups.map(\.counts.count).max() ?? 0, shareWidth = groups.map(\.shareWords.count).max() ?? 0
        for group in groups {
            writer.endLine()
            if let change = group.change { writer.add(change.kind.rawValue, width: 6, change.kind.style) }
            writer.add(group.counts, width: width + 2, .bold)
            // Before what a narrow terminal cuts, as show asks for it.
            writer.add(group.shortKey + "  ", .dim)
            writer.add(group.shareWords, width: shareWidth + 2)
            if !group.trend.isEmpty { writer.add(Trend.drawn(group.trend) + "  ") }
            writer.line(group.versionWords)
            writer.line("  " + group.cause + (apps.count > 1 && !group.cause.hasSuffix(group.app) ? " [\(group.app)]" : ""))
            if let words = group.stateWords { writer.line("  " + words, group.again == nil ? .dim : .red) }
            if let words = group.recent?.weekWords, group.change == nil { writer.line("  " + words, group.recent?.ratio.isMore == true ? .red : .green) }
            if let change = group.change { writer.line("  \(change.words(pair))", .dim) }
        }
        if !notes.isEmpty { writer.endLine() }
        for note in notes { writer.line(note, .dim) }
    }

    private var notes: [String] {
        var notes: [String] = []
        notes.append("percent: of all runs of these versions")
        if let end = groups.first?.trendEnd { notes.append("bars: runs a day, \(Trend.days) days up to \(end), each row on a scale of its own") }
        if left > 0 { notes.append("\(left) more; -n shows as many as you say") }
        let hidden = [(Decision.State.muted, "muted"), (.resolved, "resolved")].compactMap { state, word in done[state].map { "\($0) \(word)" } }
        if !hidden.isEmpty { notes.append("\(hidden.joined(separator: " and ")); --all shows them") }
        if figures.clones > 0 { notes.append(cloneWords) }
        return notes
    }

    private var cloneWords: String {
        (figures.clones == 1 ? "1 machine id is" : "\(figures.clones) machine ids are") + " of more than one device each, so that there are more devices than it says; launchguard collect names them"
    }

    private var summary: String {
        let subject = groups.first.map { group in groups.allSatisfy { $0.app == group.app } ? group.app : "\(Set(groups.map(\.app)).count) applications" } ?? ""
        let runs = figures.runs == 1 ? "1 run" : "\(figures.runs) runs"
        let devices = figures.devices == 1 ? "1 device" : "\(figures.devices) devices"
        return "\(subject): \(figures.died) of \(runs) on \(devices) died" + (pair.map { "; \($0.old) and \($0.new) compared" } ?? "")
    }

    // MARK: - As a page

    var page: FiguresPage { page(links: nil) }

    /// - Parameter links: the folder that it is a page of; nil: it is a page by itself.
    func page(links: PageLinks?) -> FiguresPage {
        var page = FiguresPage(title: "What a fleet died of", subtitle: summary)
        let apps = Set(groups.map(\.app)).count > 1
        let columns = ["Devices", "Runs", "Share", "Cause"] + (pair == nil ? [] : ["Change"]) + ["Trend", "Versions"] + (apps ? ["Application"] : []) + ["Bug"]
        let rows = groups.map { group -> [FiguresPage.Cell] in
            let change = group.change.map { [FiguresPage.Cell.marked($0.kind.rawValue, $0.kind.style, $0.words(pair))] } ?? []
            let app = apps ? [FiguresPage.Cell.text(group.app)] : []
            let notes = [group.stateWords, group.change == nil ? group.recent?.weekWords : nil].compactMap(\.self)
            return [.number(group.devices), .number(group.runs), .text(group.shareWords), .words(group.cause, notes)] + change + [.bars(group.trend), .text(group.versionWords)] + app
                + [links?.bug(group.bug).map { .link(group.shortKey, $0) } ?? .fingerprint(group.bug)]
        }
        page.tables.append(
            .init(
                id: "ranking", title: pair.map { "\($0.old) and \($0.new)" } ?? "The bugs of most devices first", columns: columns, rows: rows,
                note: notes.isEmpty ? nil : notes.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }.joined(separator: " ")))
        let shares = versions.filter { version in groups.contains { $0.app == version.app } }
        if !shares.isEmpty {
            page.tables.append(
                .init(
                    id: "versions", title: "Runs without a crash", columns: (apps ? ["Application"] : []) + ["Version", "Share"],
                    rows: shares.map { (apps ? [.text($0.app)] : []) + [.text($0.version), .text($0.words)] }, note: "In brackets: the interval of 95 %."))
        }
        guard let links else { return page }
        page.tables.append(
            .init(
                id: "fingerprints", title: "Fingerprints", columns: ["Fingerprint", "Bug"],
                rows: groups.flatMap { group in
                    group.fingerprints.map { [.fingerprint($0), links.bug(group.bug).map { .link(group.cause, $0) } ?? .text(group.cause)] }
                }, note: "As reports and servers have them."))
        return page
    }
}

extension Change.Kind {
    var style: TextWriter.Style {
        switch self {
        case .new, .more: .red
        case .gone, .less: .green
        case .same: .plain
        }
    }
}
