internal import GRDB
import LaunchGuardReports

/// The devices. A run belongs to the one that the person names, or else to that of its machine id,
/// or else to the one that is called as the argument is.
struct DeviceBook {
    /// The person's name.
    let chosen: String?
    /// The name of the argument.
    var source: Source
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
    }

    init(chosen: String?, source: Source, now: String) {
        self.chosen = chosen
        self.source = source
        self.now = now
    }

    /// The device of a run.
    mutating func device(of run: RunReport, _ database: Database) throws -> Int64 {
        let key = Key(machineID: run.system?.machineID, source: source.name)
        if let id = known[key] { return id }
        let id = try look(key.machineID, run.system, database)
        known[key] = id
        return id
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
        guard let machineID, owner != id else { return id }
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
