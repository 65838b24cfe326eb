internal import GRDB
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// A bug with its figures, what its runs have in common, and its best example.
struct ShownBug {
    let group: BugGroup
    let devices: [BugGroup.Part]
    let traits: [Trait]
    /// The newest ones.
    let runs: [Run]
    /// The device and the report of the example.
    let device: String
    let example: RunReport

    /// A run of the bug.
    struct Run {
        var uuid: String
        var number: Int
        var device: String
        var version: String?
        var started: String?
        var headline: String
    }

    /// On a page; of devices as well.
    private static let mostRuns = 50

    init(_ fleet: FleetDatabase, digits: String) throws {
        self = try fleet.read { database in
            try ShownBug(database, fleet.path, key: try BugName.key(digits, database, fleet.path))
        }
    }

    init(_ database: Database, _ path: String, key: String) throws {
        guard let group = try BugGroup.all(database, bug: key).first,
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT report, d.name FROM example e JOIN run r ON r.uuid = e.run_uuid JOIN device d ON d.id = r.device_id
                    WHERE r.bug = ? ORDER BY completeness DESC, e.key LIMIT 1
                    """, arguments: [key])
        else { throw FleetError(path, "it has no whole report of \(key); collect again", .nothingFound) }
        self.group = group
        device = try row.value("name")
        guard let report = try? JSONLine.value(RunReport.self, from: row.value("report")) else {
            throw FleetError(path, "the report of \(key) in it cannot be read; collect again into a new file", .damaged)
        }
        example = report
        devices = try Row.fetchAll(
            database,
            sql: """
                SELECT d.name, count(*) AS runs, min(started) AS first_started, max(started) AS last_started,
                    CASE WHEN d.name IN (SELECT machine_id FROM machine) AND (SELECT count(*) FROM device o WHERE o.source = d.source) = 1
                        THEN d.source END AS source FROM run r JOIN device d ON d.id = r.device_id
                WHERE bug = ? GROUP BY d.id ORDER BY runs DESC, d.name
                """, arguments: [key]
        ).map { row in
            BugGroup.Part(
                name: try row.value("name"), source: try row.value("source"), runs: try row.value("runs"), devices: 1,
                firstStarted: try row.value("first_started"), lastStarted: try row.value("last_started"))
        }
        traits = try Trait.of(key, app: group.app, database)
        runs = try Row.fetchAll(
            database,
            sql: """
                SELECT uuid, number, d.name, version, started, headline FROM run r JOIN device d ON d.id = r.device_id
                WHERE bug = ? ORDER BY started DESC, uuid LIMIT \(Self.mostRuns)
                """, arguments: [key]
        ).map { row in
            Run(
                uuid: try row.value("uuid"), number: try row.value("number"), device: try row.value("name"), version: try row.value("version"),
                started: try row.value("started"), headline: try row.value("headline"))
        }
    }

    var figures: [(name: String, value: String)] {
        [
            ("bug", group.bug), ("state", group.stateWords ?? ""), ("on", group.counts + " (\(group.shareWords) of all runs of these versions)"), ("seen", group.seenWords), ("kind", group.kind ?? ""),
            ("trend", group.recent?.weekWords ?? ""), ("fingerprints", group.fingerprints.joined(separator: "\n")),
        ].filter { !$0.1.isEmpty }
    }

    var exampleTitle: String { "The best example: run \(example.identity?.ordinal ?? 0) of \(devices.first { $0.name == device }?.label ?? device)" }

    // MARK: - As text

    func write(to writer: inout TextWriter) {
        writer.line("\(group.app): \(group.cause)", .bold)
        for (name, value) in figures {
            for (index, line) in value.split(separator: "\n").enumerated() {
                writer.add("  ")
                writer.add(index == 0 ? name : "", width: 14, .dim)
                writer.line(String(line))
            }
        }
        if let end = group.trendEnd {
            writer.add("  ")
            writer.add("runs a day", width: 14, .dim)
            writer.line("\(Trend.drawn(group.trend))  \(Trend.days) days up to \(end)")
        }
        if !traits.isEmpty {
            writer.heading("What its runs have in common, and others do not")
            for trait in traits { writer.line("  \(trait.words)") }
        }
        write(group.versions, "By version", to: &writer)
        write(devices, "By device", to: &writer)
        writer.heading(exampleTitle)
        example.write(to: &writer)
    }

    private static let most = 10

    private func write(_ parts: [BugGroup.Part], _ title: String, to writer: inout TextWriter) {
        writer.heading(title)
        // The newest versions are the last ones, and the devices with most runs the first ones.
        let shown = title == "By version" ? Array(parts.suffix(Self.most)) : Array(parts.prefix(Self.most))
        let width = shown.map(\.label.count).max() ?? 0
        for part in shown {
            writer.add("  ")
            writer.add(part.label, width: width + 2)
            let devices = title == "By version" ? " on \(part.devices == 1 ? "1 device" : "\(part.devices) devices")" : ""
            let seen = [part.firstStarted, part.lastStarted].compactMap { $0?.prefix(10) }
            writer.line("\(part.runs)×\(devices)" + (seen.isEmpty ? "" : ", \(seen[0] == seen[seen.count - 1] ? String(seen[0]) : seen.joined(separator: " to "))"))
        }
        if parts.count > Self.most { writer.line("  and \(parts.count - Self.most) more", .dim) }
    }

    // MARK: - As a page

    /// With the example in it.
    var page: FiguresPage {
        var page = pageOfFigures(links: nil)
        page.example = (exampleTitle, example)
        return page
    }

    /// - Parameter links: the folder that it is a page of; nil: it is a page by itself.
    func pageOfFigures(links: PageLinks?) -> FiguresPage {
        var page = FiguresPage(title: group.cause, subtitle: group.app)
        page.facts = figures
        if let end = group.trendEnd {
            page.tables.append(.init(id: "trend", title: "Trend", columns: ["Runs a day"], rows: [[.bars(group.trend)]], note: "The \(Trend.days) days up to \(end)."))
        }
        if !traits.isEmpty {
            page.tables.append(
                .init(
                    id: "traits", title: "In common", columns: ["What", "Value", "Its runs", "Other runs"],
                    rows: traits.map { [.text($0.name), .text($0.value), .text("\($0.runs) of \($0.total)"), .text("\($0.otherRuns) of \($0.otherTotal)")] },
                    note: "What nearly all of its runs have, and the other runs of the application do not."))
        }
        page.tables.append(table("versions", "By version", "Version", group.versions.reversed(), withDevices: true))
        let byDevice = table("devices", "By device", "Device", devices, withDevices: false)
        guard let links else {
            page.tables.append(byDevice)
            return page
        }
        page.tables += [
            .init(
                id: "runs", title: "Newest runs", columns: ["Run", "Started", "Version", "Device", "What happened"],
                rows: runs.map { run in
                    let name = "run \(run.number)"
                    let cell = run.uuid == example.identity?.uuid ? links.run(run.uuid).map { FiguresPage.Cell.link(name + ", whole", $0) } : nil
                    return [cell ?? .text(name), .text((run.started ?? "").prefix(19).description), .text(run.version ?? ""), .text(run.device), .text(run.headline)]
                }), byDevice,
        ]
        page.links = [("All bugs", PageLinks.index)] + (example.identity.flatMap { links.run($0.uuid) }.map { [("The best example", $0)] } ?? [])
        return page
    }

    private func table(_ id: String, _ title: String, _ column: String, _ parts: [BugGroup.Part], withDevices: Bool) -> FiguresPage.Table {
        .init(
            id: id, title: title, columns: [column, "Runs"] + (withDevices ? ["Devices"] : []) + ["First run", "Last run"],
            rows: parts.prefix(Self.mostRuns).map { part in
                [.text(part.label), .number(part.runs)] + (withDevices ? [.number(part.devices)] : [])
                    + [part.firstStarted, part.lastStarted].map { .text(($0 ?? "").prefix(19).description) }
            }, note: parts.count > Self.mostRuns ? "And \(parts.count - Self.mostRuns) more." : nil)
    }
}
