internal import GRDB
import LaunchGuardReports
import ToolParts

/// The rows of the database as lines of JSON, one file a table, for another database to load.
enum RowFiles {
    static func write(_ fleet: FleetDatabase, to folder: String) throws {
        guard try ReportPath.isFolder(folder) == true || ReportPath.makeFolder(folder) else {
            throw FleetError(folder, "it is no folder, and cannot be made one", .nothingFound)
        }
        let tables = try fleet.read { database in
            try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map { table in
                let columns = try database.columns(in: table).map(\.name)
                let pairs = columns.map { "'\($0)', \"\($0)\"" }.joined(separator: ", ")
                return (table, try String.fetchAll(database, sql: "SELECT json_object(\(pairs)) FROM \"\(table)\" ORDER BY 1"))
            }
        }
        for (table, lines) in tables where table.utf8.allSatisfy({ (97...122).contains($0) || $0 == 95 }) {
            try WholeFile.write(Array(lines.map { $0 + "\n" }.joined().utf8), to: "\(folder)/\(table).jsonl")
        }
    }
}
