internal import GRDB
import ToolBase
import ToolParts

/// Finds the bug that a person names by the first digits of its key, of a fingerprint of its runs,
/// or of a key that was merged into it.
enum BugName {
    static func key(_ digits: String, _ database: Database, _ path: String) throws -> String {
        let sql = """
            SELECT DISTINCT bug FROM run WHERE bug IS NOT NULL AND (
                bug BETWEEN ?1 AND ?1 || 'g' OR fingerprint BETWEEN ?1 AND ?1 || 'g' OR key BETWEEN ?1 AND ?1 || 'g'
                OR bug IN (SELECT bug FROM merge WHERE key BETWEEN ?1 AND ?1 || 'g'))
            ORDER BY 1 LIMIT 10
            """
        let keys = try String.fetchAll(database, sql: sql, arguments: [digits])
        guard let key = keys.first else {
            throw FleetError(path, "no bug has a key or a fingerprint that begins with \(digits); launchguard top --all shows them", .nothingFound)
        }
        guard keys.count == 1 else {
            // A key that is whole names no other bug, whatever the fingerprints are.
            if keys.contains(digits) { return digits }
            throw FleetError(path, "more than one bug has a key or a fingerprint that begins with \(digits): \(keys.joined(separator: ", "))", .nothingFound)
        }
        return key
    }
}
