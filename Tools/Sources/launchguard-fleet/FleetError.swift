internal import GRDB
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// A database that cannot be used, and what to do about it.
struct FleetError: Error, CustomStringConvertible {
    var path: String
    var message: String
    var status: ExitStatus

    init(_ path: String, _ message: String, _ status: ExitStatus) {
        self.path = path
        self.message = message
        self.status = status
    }

    init(_ path: String, _ error: DatabaseError) {
        self.path = path
        (message, status) =
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: ("another program writes to it; try again when that has ended", .nothingFound)
            case .SQLITE_NOTADB: ("it is no SQLite database", .damaged)
            case .SQLITE_CORRUPT: (Self.damage(path), .damaged)
            case .SQLITE_FULL: ("there is no space left on the disk; what was collected before is kept", .nothingFound)
            case .SQLITE_IOERR: ("it cannot be read or written (\(error.message ?? "an error of the disk")); what was collected before is kept", .nothingFound)
            case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK:
                ("a collect was cut short; let its owner open it once, or copy it together with \(path)-journal", .nothingFound)
            case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: ("it may not be written; run this as its owner, or copy it", .nothingFound)
            case .SQLITE_CANTOPEN: ("it cannot be opened; is its folder there, and may this user write to it?", .nothingFound)
            default: ("SQLite says: \(error.message ?? "\(error.resultCode)"); if that stays so, collect into a new file", .damaged)
            }
    }

    /// A row has what no collect stores.
    init(_ path: String, _ error: RowDecodingError) { self.init(path, Self.damage(path), .damaged) }

    private static func damage(_ path: String) -> String {
        "it is damaged; collect into a new file, or save what is left with sqlite3 \"\(path)\" .recover"
    }

    var description: String { "\(path): \(message)" }
}
