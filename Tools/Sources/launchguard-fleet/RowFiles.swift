internal import GRDB
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// The rows of the database as lines of JSON, one file a table, for another database to load.
enum RowFiles {
    static func write(_ fleet: FleetDatabase, to folder: String) throws {
        guard try ReportPath.isFolder(folder) == true || ReportPath.makeFolder(folder) else {
            throw FleetError(folder, "it is no folder, and cannot be made one", .nothingFound)
        }
        try fleet.read { database in
            let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
            for table in tables where table.utf8.allSatisfy({ (97...122).contains($0) || $0 == 95 }) {
                let pairs = try database.columns(in: table).map { "'\($0.name)', \"\($0.name)\"" }.joined(separator: ", ")
                let order = try database.primaryKey(table).columns.joined(separator: ", ")
                let rows = try String.fetchCursor(database, sql: "SELECT json_object(\(pairs)) FROM \"\(table)\" ORDER BY \(order)")
                try WholeFile.write(to: "\(folder)/\(table).jsonl") { try write(rows, to: $0) }
            }
        }
    }

    private static let partBytes = 1 << 20

    private static func write(_ rows: some Cursor<String>, to file: Int32) throws -> Bool {
        var part: [UInt8] = []
        while let row = try rows.next() {
            part += row.utf8
            part.append(UInt8(ascii: "\n"))
            guard part.count >= partBytes else { continue }
            guard WholeFile.write(part, to: file) else { return false }
            part.removeAll(keepingCapacity: true)
        }
        return WholeFile.write(part, to: file)
    }
}
