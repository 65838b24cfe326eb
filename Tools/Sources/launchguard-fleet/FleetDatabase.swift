internal import GRDB
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// The database of a fleet, open. docs/FLEET.md describes it.
struct FleetDatabase {
    let path: String
    private let queue: DatabaseQueue

    /// Opens it to collect; makes it where it is missing.
    init(collectingInto path: String) throws {
        if try ReportPath.isFolder(path) == true { throw FleetError(path, "it is a folder; name a file in it, for example --into \(path)/fleet.db", .nothingFound) }
        // It holds what the programs of the devices did: for its owner alone.
        umask(0o077)
        try self.init(path, seconds: 30)
        // Whole or not at all, also where two begin at once.
        try write { try FleetSchema.make($0, path) }
    }

    /// Opens it to read.
    init(reading path: String) throws {
        switch try ReportPath.isFolder(path) {
        case false: break
        case true: throw FleetError(path, "it is a folder, and no database; launchguard collect --into fleet.db \(path) makes one of it", .nothingFound)
        case nil:
            throw FleetError(path, "there is no such file; launchguard collect --into \(path) DIR makes it", .nothingFound)
        }
        try self.init(path, seconds: 5)
        guard try read({ try FleetSchema.version(of: $0, path) }) > 0 else {
            throw FleetError(path, "it is empty; launchguard collect --into \(path) DIR fills it", .nothingFound)
        }
    }

    /// - Parameter seconds: how long another program that writes is waited for.
    private init(_ path: String, seconds: Double) throws {
        self.path = path
        var configuration = Configuration()
        configuration.busyMode = .timeout(seconds)
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
        } catch let error as RowDecodingError {
            throw FleetError(path, error)
        }
    }
}

extension Row {
    /// The value of a column. Row's own subscript ends the process where a damaged database has
    /// something else.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: String) throws -> Value {
        try decode(Value.self, forColumn: column)
    }
}
