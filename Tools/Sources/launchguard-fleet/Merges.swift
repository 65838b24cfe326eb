internal import GRDB

/// Which keys belong to which bug: those that a person merged, and those of runs whose functions
/// had no names then. A bug is the key at the end of such a chain.
struct Merges {
    private var next: [String: String] = [:]

    init(_ database: Database) throws {
        for row in try Row.fetchAll(database, sql: "SELECT key, bug FROM merge") { next[try row.value("key")] = try row.value("bug") }
    }

    /// The bug of a key.
    func bug(of key: String) -> String {
        var bug = key
        // A damaged table may lead in a circle.
        for _ in 0...next.count {
            guard let further = next[bug], further != key else { return bug }
            bug = further
        }
        return key
    }

    /// The runs without names go with those that have the same fingerprint and names.
    mutating func take(_ key: RowKey, _ database: Database) throws {
        guard let nameless = key.nameless, next[nameless] == nil else { return }
        let bug = bug(of: key.key)
        guard bug != nameless else { return }
        try merge(nameless, into: key.key, isByHand: false, database)
        try database.execute(sql: "UPDATE OR IGNORE decision SET bug = ? WHERE bug = ?", arguments: [bug, nameless])
    }

    /// Gives the runs of a bug to another one. Its decision waits for the day on which that is
    /// undone.
    mutating func merge(_ key: String, into bug: String, isByHand: Bool, _ database: Database) throws {
        next[key] = bug
        try database.execute(
            sql: "INSERT INTO merge (key, bug, is_by_hand) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET bug = excluded.bug, is_by_hand = excluded.is_by_hand",
            arguments: [key, bug, isByHand])
        try move(key, database)
    }

    /// Undoes what a person merged; false: nobody did.
    mutating func split(_ key: String, _ database: Database) throws -> Bool {
        try database.execute(sql: "DELETE FROM merge WHERE key = ? AND is_by_hand", arguments: [key])
        guard database.changesCount > 0 else { return false }
        next[key] = nil
        try move(key, database)
        return true
    }

    /// Brings the runs of a key, and of those before it in a chain, to their bug.
    private func move(_ key: String, _ database: Database) throws {
        let bug = bug(of: key)
        for moved in [key] + next.keys.filter({ self.bug(of: $0) == bug }) {
            try database.execute(sql: "UPDATE run SET bug = ? WHERE key = ? AND bug IS NOT ?", arguments: [bug, moved, bug])
        }
    }
}
