internal import GRDB
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// The devices of the runs, by a rule.
struct DeviceBook {
    private let rule: DeviceRule
    /// The name of the argument.
    var source: Source
    /// The name that the rule finds in a path; nil: none.
    var folder: String?
    let now: String
    private var known: [Key: Int64] = [:]

    struct Source: Hashable {
        /// Its last part, for a tarball without its suffix.
        var name: String
        var path: String
    }

    private struct Key: Hashable {
        var machineID: String?
        var source: String
        var folder: String?
    }

    init(_ rule: DeviceRule, source: Source, now: String) {
        self.rule = rule
        self.source = source
        self.now = now
    }

    /// Whether the rule is surer than what an earlier collect found.
    var isNamed: Bool { !isByMachine }

    var isByMachine: Bool { if case .machine = rule { true } else { false } }

    private var chosen: String? {
        switch rule {
        case .named(let name): name
        case .machine: nil
        case .name: source.name
        case .pattern: folder
        }
    }

    /// The name that the rule finds in the path of a state directory; nil: it looks for none.
    func folder(of path: String) throws -> String? {
        guard case .pattern(let pattern) = rule else { return nil }
        guard let name = pattern.device(in: path) else {
            throw FleetError(path, "--device-from \(pattern.text) does not match this path, so that its device is not known", .nothingFound)
        }
        return name
    }

    /// The device of a run.
    mutating func device(of run: RunReport, _ database: Database) throws -> Int64 {
        let key = Key(machineID: run.system?.machineID, source: source.name, folder: folder)
        if let id = known[key] { return id }
        let id = try look(key.machineID, run.system, database)
        known[key] = id
        return id
    }

    /// Whether the device takes the machine id over, for later collects.
    private var isOwner: Bool {
        switch rule {
        case .named, .machine: true
        case .name, .pattern: false
        }
    }

    private func look(_ machineID: String?, _ system: RunSystem?, _ database: Database) throws -> Int64 {
        var owner: Int64?
        if let machineID { owner = try Int64.fetchOne(database, sql: "SELECT device_id FROM machine WHERE machine_id = ?", arguments: [machineID]) }
        if chosen == nil, let owner {
            try touch(owner, system, database)
            return owner
        }
        let id = try named(chosen ?? machineID ?? source.name, database)
        try touch(id, system, database)
        // By names, machines that share an id are several devices.
        guard isOwner, let machineID, owner != id else { return id }
        try database.execute(
            sql: "INSERT INTO machine (machine_id, device_id) VALUES (?, ?) ON CONFLICT (machine_id) DO UPDATE SET device_id = excluded.device_id",
            arguments: [machineID, id])
        if let owner { try adopt(from: owner, named: machineID, by: id, database) }
        return id
    }

    /// The runs of a device that nobody had named go with its name.
    private func adopt(from owner: Int64, named machineID: String, by id: Int64, _ database: Database) throws {
        guard try String.fetchOne(database, sql: "SELECT name FROM device WHERE id = ?", arguments: [owner]) == machineID else { return }
        try database.execute(sql: "UPDATE run SET device_id = ? WHERE device_id = ?", arguments: [id, owner])
        try database.execute(sql: "DELETE FROM device WHERE id = ?", arguments: [owner])
    }

    private func named(_ name: String, _ database: Database) throws -> Int64 {
        try database.execute(
            sql: "INSERT INTO device (name, source, first_collected, last_collected) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
            arguments: [name, source.path, now, now])
        return try Int64.fetchOne(database, sql: "SELECT id FROM device WHERE name = ?", arguments: [name]) ?? 0
    }

    private func touch(_ id: Int64, _ system: RunSystem?, _ database: Database) throws {
        let distribution = [system?.distribution, system?.distributionVersion].compactMap(\.self).joined(separator: " ")
        try database.execute(
            sql: """
                UPDATE device SET source = ?, last_collected = ?, system = coalesce(?, system), kernel = coalesce(?, kernel),
                    hardware = coalesce(?, hardware), model = coalesce(?, model) WHERE id = ?
                """,
            arguments: [source.path, now, distribution.isEmpty ? nil : distribution, system?.kernel, system?.hardware, system?.model, id])
    }
}
