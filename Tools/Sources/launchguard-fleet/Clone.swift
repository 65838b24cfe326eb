internal import GRDB

/// A machine id that several machines seem to have, as after an image was copied: two boots of one
/// machine never take turns, and its state directories know each other's boots.
struct Clone {
    var machineID: String
    var app: String
    /// State directories with the id.
    var paths: [String]

    var words: String {
        let shown = paths.prefix(3).joined(separator: ", ") + (paths.count > 3 ? " and \(paths.count - 3) more" : "")
        return "machine id \(machineID) of \(app): boots that take turns, in \(shown): more than one device has it, and they count as one; collect again with --device-from name"
    }

    /// Marks such machine ids in the table `machine`, and returns them.
    static func mark(_ database: Database) throws -> [Clone] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT machine_id, max(app) AS app, boot_id, path, min(started) AS first, max(started) AS last FROM run
                WHERE started IS NOT NULL AND boot_id IS NOT NULL
                    AND machine_id IN (SELECT machine_id FROM run WHERE machine_id IS NOT NULL GROUP BY machine_id HAVING count(DISTINCT boot_id) > 1)
                GROUP BY machine_id, boot_id, rtrim(path, replace(path, '/', '')) ORDER BY machine_id, first, last
                """)
        var clones: [Clone] = []
        for rows in try Dictionary(grouping: rows.map(Span.init), by: \.machineID).values where isCloned(rows) {
            clones.append(Clone(machineID: rows[0].machineID, app: rows[0].app, paths: Array(Set(rows.map(\.folder))).sorted()))
        }
        clones.sort { $0.machineID < $1.machineID }
        try database.execute(sql: "UPDATE machine SET is_cloned = 0 WHERE is_cloned")
        for clone in clones { try database.execute(sql: "UPDATE machine SET is_cloned = 1 WHERE machine_id = ?", arguments: [clone.machineID]) }
        return clones
    }

    /// The runs of one boot in one state directory.
    private struct Span {
        var machineID: String
        var app: String
        var boot: String
        var folder: String
        var first: String
        var last: String

        init(_ row: Row) throws {
            machineID = try row.value("machine_id")
            app = try row.value("app")
            boot = try row.value("boot_id")
            (first, last) = (try row.value("first"), try row.value("last"))
            let path: String = try row.value("path")
            folder = path.firstRange(of: "/runs/").map { String(path[..<$0.lowerBound]) } ?? path
        }
    }

    private static func isCloned(_ spans: [Span]) -> Bool {
        overlap(spans, \.boot) { _ in true } || overlap(spans, \.folder) { folders in
            let boots = folders.map { folder in Set(spans.lazy.filter { $0.folder == folder }.map(\.boot)) }
            return boots[0].isDisjoint(with: boots[1])
        }
    }

    /// Whether what two values have overlaps in time, and the two are as wanted.
    private static func overlap(_ spans: [Span], _ value: (Span) -> String, _ isWanted: ([String]) -> Bool) -> Bool {
        let times = Dictionary(grouping: spans, by: value).map { name, spans in (name: name, first: spans.map(\.first).min() ?? "", last: spans.map(\.last).max() ?? "") }
            .sorted { ($0.first, $0.last) < ($1.first, $1.last) }
        guard var open = times.first else { return false }
        for next in times.dropFirst() {
            if next.first < open.last, isWanted([open.name, next.name]) { return true }
            if next.last > open.last { open = next }
        }
        return false
    }
}
