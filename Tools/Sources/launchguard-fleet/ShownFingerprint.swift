internal import GRDB
import LaunchGuardReports
import ToolParts

/// A fingerprint with its figures and its best example.
struct ShownFingerprint {
    let group: FingerprintGroup
    let versions: [Part]
    let devices: [Part]
    /// The device and the report of the example.
    let device: String
    let example: RunReport

    /// Runs of one version, or of one device.
    struct Part {
        var name: String
        /// For a device without a name: the argument that only this device was last collected from.
        var source: String?
        var runs: Int
        var lastStarted: String?

        /// A person knows a device by its tarball sooner than by a machine id.
        var label: String {
            source?.split(separator: "/").last.map { "\(name) (\($0))" } ?? name
        }

        init(_ row: Row) throws {
            name = try row.value("name")
            source = try row.value("source")
            runs = try row.value("runs")
            lastStarted = try row.value("last_started")
        }
    }

    init(_ fleet: FleetDatabase, _ digits: String) throws {
        let path = fleet.path
        let found = try fleet.read { database in
            let names = try String.fetchAll(
                database, sql: "SELECT fingerprint FROM fingerprint WHERE fingerprint >= ?1 AND fingerprint < ?1 || 'g' ORDER BY 1 LIMIT 10", arguments: [digits])
            guard let name = names.first else {
                throw FleetError(path, "no run has a fingerprint that begins with \(digits); launchguard top shows them", .nothingFound)
            }
            guard names.count == 1 else {
                throw FleetError(path, "more than one fingerprint begins with \(digits): \(names.joined(separator: ", "))", .nothingFound)
            }
            guard let row = try Row.fetchOne(database, sql: "SELECT * FROM ranking WHERE fingerprint = ?", arguments: [name]),
                let example = try Row.fetchOne(
                    database,
                    sql: "SELECT report, d.name FROM example e JOIN run r ON r.uuid = e.run_uuid JOIN device d ON d.id = r.device_id WHERE e.fingerprint = ?",
                    arguments: [name])
            else { throw FleetError(path, "it has no whole report of \(name); collect again", .nothingFound) }
            var group = try FingerprintGroup(row)
            let trend = try Trend(database)
            (group.trend, group.trendEnd) = (trend.of(name), trend.end)
            group.samePlace = try Cause.others(database)[name]
            let versions = try Row.fetchAll(
                database,
                sql: """
                    SELECT coalesce(version, 'without a version') AS name, count(*) AS runs, max(started) AS last_started
                    FROM run WHERE fingerprint = ? GROUP BY version ORDER BY max(started) DESC
                    """, arguments: [name])
            let devices = try Row.fetchAll(
                database,
                sql: """
                    SELECT d.name, count(*) AS runs, max(started) AS last_started,
                        CASE WHEN d.name IN (SELECT machine_id FROM machine) AND (SELECT count(*) FROM device o WHERE o.source = d.source) = 1
                            THEN d.source END AS source FROM run r JOIN device d ON d.id = r.device_id
                    WHERE fingerprint = ? GROUP BY d.id ORDER BY runs DESC, d.name
                    """, arguments: [name])
            return (group, try versions.map(Part.init), try devices.map(Part.init), try example.value("name") as String, try example.value("report") as String)
        }
        (group, versions, devices, device) = (found.0, found.1, found.2, found.3)
        guard let report = try? JSONLine.value(RunReport.self, from: found.4) else {
            throw FleetError(path, "the report of \(group.fingerprint) in it cannot be read; collect again into a new file", .damaged)
        }
        example = report
    }

    private var figures: [(name: String, value: String)] {
        [
            ("fingerprint", group.fingerprint), ("runs", group.counts), ("versions", group.versions), ("same place", group.samePlaceWords ?? ""),
            ("seen", [group.firstStarted, group.lastStarted].compactMap { $0.map { $0.prefix(19) + "Z" } }.joined(separator: " to ")),
        ].filter { !$0.1.isEmpty }
    }

    private var exampleTitle: String { "The best example: run \(example.identity?.ordinal ?? 0) of \(devices.first { $0.name == device }?.label ?? device)" }

    // MARK: - As text and as a page

    func write(to writer: inout TextWriter) {
        writer.line("\(group.app): \(group.cause)", .bold)
        for (name, value) in figures {
            writer.add("  ")
            writer.add(name, width: 13, .dim)
            writer.line(value)
        }
        if let end = group.trendEnd {
            writer.add("  ")
            writer.add("trend", width: 13, .dim)
            writer.line("\(Trend.drawn(group.trend))  \(Trend.days) days up to \(end)")
        }
        write(versions, "By version", to: &writer)
        write(devices, "By device", to: &writer)
        writer.heading(exampleTitle)
        example.write(to: &writer)
    }

    private static let most = 10

    private func write(_ parts: [Part], _ title: String, to writer: inout TextWriter) {
        writer.heading(title)
        let width = parts.prefix(Self.most).map(\.label.count).max() ?? 0
        for part in parts.prefix(Self.most) {
            writer.add("  ")
            writer.add(part.label, width: width + 2)
            writer.line("\(part.runs)×" + (part.lastStarted.map { ", last on \($0.prefix(10))" } ?? ""))
        }
        if parts.count > Self.most { writer.line("  and \(parts.count - Self.most) more", .dim) }
    }

    var page: FiguresPage {
        var page = FiguresPage(title: group.cause, subtitle: group.app)
        page.facts = figures
        if let end = group.trendEnd {
            page.tables.append(.init(id: "trend", title: "Trend", columns: ["Runs a day"], rows: [[.bars(group.trend)]], note: "The \(Trend.days) days up to \(end)."))
        }
        for (id, title, parts) in [("versions", "By version", versions), ("devices", "By device", devices)] {
            page.tables.append(
                .init(
                    id: id, title: title, columns: [title == "By version" ? "Version" : "Device", "Runs", "Last run"],
                    rows: parts.map { [.text($0.label), .number($0.runs), .text(($0.lastStarted ?? "").prefix(19).description)] }))
        }
        page.example = (exampleTitle, example)
        return page
    }
}
