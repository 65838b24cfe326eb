import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// A PostgreSQL server that takes the rows of the database, by PostgreSQL's own program.
struct RowServer {
    private let address: String

    /// Nil: it is the name of a folder.
    init?(_ place: String) {
        guard place.hasPrefix("postgres://") || place.hasPrefix("postgresql://") else { return nil }
        address = place
    }

    private static let script = #"cd -- "$1" && exec psql -X -q -v ON_ERROR_STOP=1 -d "$2" -f load.sql"#

    func load(_ fleet: FleetDatabase) throws {
        guard let folder = ScratchFolder() else { throw ExportError(path: "TMPDIR", problem: errno) }
        defer { folder.remove() }
        try RowFiles.write(fleet, to: folder.path + "/rows")
        try WholeFile.write(PackageResources.postgresql_sql, to: folder.path + "/load.sql")
        let psql = ChildProcess(script: Self.script, [folder.path, address], errors: Output.Stream.error.rawValue)
        guard psql?.wait() == true else {
            // The address may have a password.
            throw FleetError("psql", "it could not load the rows, and the server has those from before; its reason is above (Debian: postgresql-client)", .nothingFound)
        }
    }
}
