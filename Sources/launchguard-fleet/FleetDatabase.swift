internal import GRDB
import LaunchGuardPlatform
import LaunchGuardReports
import ToolParts

/// The database of a fleet, open. docs/FLEET.md describes it.
struct FleetDatabase {
    let path: String
    private let queue: DatabaseQueue

    /// Opens it to collect; makes it where it is missing.
    init(collectingInto path: String) throws {
        // It holds what the programs of the devices did: for its owner alone.
        umask(0o077)
        try self.init(path)
        try write { database in
            let isEmpty = try FleetSchema.isEmpty(database)
            if !isEmpty { try FleetSchema.check(database, path) }
        }
        try mapped { try FleetSchema.migrator.migrate(queue) }
    }

    /// Opens it to read.
    init(reading path: String) throws {
        switch try Path.isFolder(path) {
        case false: break
        case true: throw FleetError(path, "it is a folder, and no database; launchguard collect --into fleet.db \(path) makes one of it", .nothingFound)
        case nil:
            throw FleetError(path, "there is no such file; launchguard collect --into \(path) DIR makes it", .nothingFound)
        }
        try self.init(path)
        try read { try FleetSchema.check($0, path) }
    }

    private init(_ path: String) throws {
        self.path = path
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "fleet"
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError {
            throw FleetError(path, error)
        }
    }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try mapped { try queue.read(body) } }

    /// In one transaction.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try mapped { try queue.write(body) } }

    private func mapped<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw FleetError(path, error)
        }
    }
}
