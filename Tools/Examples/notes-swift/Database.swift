import CSQLite
import Glibc

/// An error of SQLite.
struct DatabaseError: Error, CustomStringConvertible {
    let description: String
}

/// The notes: rows of a SQLite database.
@safe
final class Database {
    private let handle: OpaquePointer?

    init(path: String) throws {
        var handle: OpaquePointer?
        let result = unsafe sqlite3_open(path, &handle)
        unsafe self.handle = unsafe handle
        guard result == SQLITE_OK else { throw error("cannot open the database") }
        try execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    }

    deinit { unsafe sqlite3_close(handle) }

    func add(_ texts: [String]) throws {
        try execute("BEGIN")
        let statement = unsafe try prepare("INSERT INTO notes (text) VALUES (?)")
        defer { unsafe sqlite3_finalize(statement) }
        for text in texts {
            // SQLITE_TRANSIENT: SQLite copies the text at once.
            let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            unsafe sqlite3_bind_text(statement, 1, text, -1, transient)
            guard unsafe sqlite3_step(statement) == SQLITE_DONE else { throw error("cannot add the note") }
            unsafe sqlite3_reset(statement)
        }
        try execute("COMMIT")
    }

    /// The first column of all rows of a query.
    func texts(_ query: String) throws -> [String] {
        let statement = unsafe try prepare(query)
        defer { unsafe sqlite3_finalize(statement) }
        var texts: [String] = []
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: unsafe texts.append(text(statement, 0))
            case SQLITE_DONE: return texts
            default: throw error("cannot read the notes")
            }
        }
    }

    /// The summary that the start shows: the number of notes, the first and the last.
    func loadSummary() -> (count: Int, first: String, last: String) {
        let query = """
            SELECT count(*), coalesce((SELECT text FROM notes ORDER BY id LIMIT 1), ''),
            coalesce((SELECT text FROM notes ORDER BY id DESC LIMIT 1), '') FROM notes
            """
        var statement: OpaquePointer?
        unsafe sqlite3_prepare_v2(handle, query, -1, &statement, nil)
        defer { unsafe sqlite3_finalize(statement) }
        // The bug: a query like this always has exactly one row, so nobody checks the result.
        unsafe sqlite3_step(statement)
        let count = unsafe Int(sqlite3_column_int(statement, 0))
        let first = unsafe text(statement, 1)
        let last = unsafe text(statement, 2)
        return (count, first, last)
    }

    private func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
        unsafe String(cString: sqlite3_column_text(statement, column))
    }

    /// Copy a database to a new file, check the copy, and only then put it in its place.
    static func copy(from source: String, to target: String) throws {
        let copy = target + ".new"
        unsafe unlink(copy)
        do {
            let new = try Database(path: copy)
            try new.fill(from: source)
            guard try new.texts("PRAGMA integrity_check") == ["ok"] else { throw new.error("the copy is damaged") }
        } catch {
            unsafe unlink(copy)
            throw error
        }
        // A journal of the old file must not be applied to the new one.
        unsafe unlink(target + "-journal")
        guard unsafe rename(copy, target) == 0 else { throw DatabaseError(description: "cannot replace \(target)") }
    }

    private func fill(from path: String) throws {
        var source: OpaquePointer?
        defer { unsafe sqlite3_close(source) }
        guard unsafe sqlite3_open_v2(path, &source, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            let backup = unsafe sqlite3_backup_init(handle, "main", source, "main")
        else { throw DatabaseError(description: "cannot read \(path)") }
        let result = unsafe sqlite3_backup_step(backup, -1)
        unsafe sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE else { throw error("cannot copy \(path)") }
    }

    private func execute(_ sql: String) throws {
        guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw error(sql) }
        return unsafe statement
    }

    private func error(_ what: String) -> DatabaseError {
        DatabaseError(description: "\(what): \(unsafe String(cString: sqlite3_errmsg(handle)))")
    }
}
