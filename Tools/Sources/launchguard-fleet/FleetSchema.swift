internal import GRDB
import ToolBase
import ToolParts

/// The tables of the database. docs/FLEET.md describes them, for queries by hand.
enum FleetSchema {
    /// Grows with each change of the tables. A database of another version is collected again.
    private static let current = 2
    /// "LGfl", as PRAGMA application_id.
    private static let applicationID = 0x4C47_666C

    /// Makes the tables of a database that is empty.
    static func make(_ database: Database, _ path: String) throws {
        guard try version(of: database, path) == 0 else { return }
        try database.execute(sql: tables + "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(current)")
    }

    /// The version of a fleet; 0: the database is empty. Throws where it is another one, older or
    /// newer.
    static func version(of database: Database, _ path: String) throws -> Int {
        let found = try number(database, "user_version")
        if found == 0, try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0 { return 0 }
        guard try number(database, "application_id") == applicationID, found > 0 else {
            throw FleetError(path, "it is an SQLite database, but not one of launchguard collect; name another file", .damaged)
        }
        guard found >= current else {
            throw FleetError(path, "an older launchguard made it (its version is \(found), and this one needs \(current)); collect again into a new file", .damaged)
        }
        guard found == current else {
            throw FleetError(path, "a newer launchguard made it (its version is \(found), and this one knows \(current)); update launchguard", .damaged)
        }
        return found
    }

    private static func number(_ database: Database, _ name: String) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0
    }

    private static let tables = """
        CREATE TABLE device (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            system TEXT,
            kernel TEXT,
            hardware TEXT,
            model TEXT,
            source TEXT NOT NULL,
            first_collected TEXT NOT NULL,
            last_collected TEXT NOT NULL
        );
        CREATE TABLE machine (
            machine_id TEXT PRIMARY KEY,
            device_id INTEGER NOT NULL REFERENCES device (id),
            is_cloned INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE bug (
            key TEXT PRIMARY KEY,
            app TEXT NOT NULL,
            ending TEXT NOT NULL,
            kind TEXT,
            headline TEXT NOT NULL,
            place TEXT
        );
        CREATE TABLE run (
            uuid TEXT PRIMARY KEY,
            device_id INTEGER NOT NULL REFERENCES device (id),
            machine_id TEXT,
            boot_id TEXT,
            app TEXT NOT NULL,
            version TEXT,
            build_id TEXT,
            number INTEGER NOT NULL,
            started TEXT,
            duration_ns INTEGER,
            ending TEXT NOT NULL,
            evidence TEXT NOT NULL,
            certainty INTEGER NOT NULL,
            signal TEXT,
            exit_code INTEGER,
            kind TEXT,
            message TEXT,
            place TEXT,
            headline TEXT NOT NULL,
            is_degraded INTEGER NOT NULL,
            is_damaged INTEGER NOT NULL,
            is_short_of_memory INTEGER NOT NULL,
            fingerprint TEXT,
            key TEXT REFERENCES bug (key),
            bug TEXT REFERENCES bug (key),
            system TEXT,
            kernel TEXT,
            hardware TEXT,
            model TEXT,
            path TEXT NOT NULL,
            first_collected TEXT NOT NULL,
            last_collected TEXT NOT NULL
        );
        CREATE INDEX run_by_bug ON run (bug, version, started, device_id);
        CREATE INDEX run_by_key ON run (key);
        CREATE INDEX run_by_fingerprint ON run (fingerprint, bug);
        CREATE INDEX run_by_version ON run (app, version, bug, ending, started, device_id);
        CREATE INDEX run_by_device ON run (device_id, started);
        CREATE INDEX run_by_start ON run (started, bug, app, device_id);
        CREATE INDEX run_by_machine ON run (machine_id, boot_id);
        CREATE TABLE annotation (
            run_uuid TEXT NOT NULL REFERENCES run (uuid),
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (run_uuid, name)
        ) WITHOUT ROWID;
        CREATE TABLE example (
            key TEXT PRIMARY KEY REFERENCES bug (key),
            run_uuid TEXT NOT NULL REFERENCES run (uuid),
            completeness INTEGER NOT NULL,
            report TEXT NOT NULL
        );
        CREATE INDEX example_by_run ON example (run_uuid);
        CREATE TABLE decision (
            bug TEXT PRIMARY KEY,
            state TEXT NOT NULL,
            resolved_in TEXT,
            decided TEXT NOT NULL
        );
        CREATE TABLE merge (
            key TEXT PRIMARY KEY,
            bug TEXT NOT NULL,
            is_by_hand INTEGER NOT NULL
        );
        CREATE VIEW ranking AS
            SELECT r.bug, b.app, b.ending, b.kind, count(*) AS runs, count(DISTINCT r.device_id) AS devices, count(DISTINCT r.version) AS versions,
                min(r.started) AS first_started, max(r.started) AS last_started, d.state, d.resolved_in, d.decided, b.headline, b.place
            FROM run r JOIN bug b ON b.key = r.bug LEFT JOIN decision d ON d.bug = r.bug
            GROUP BY r.bug;
        CREATE VIEW bug_version AS
            SELECT bug, app, version, count(*) AS runs, count(DISTINCT device_id) AS devices, min(started) AS first_started, max(started) AS last_started
            FROM run WHERE bug IS NOT NULL GROUP BY bug, version;
        CREATE VIEW version AS
            SELECT app, version, count(*) AS runs, count(bug) AS died, sum(ending = 'crash') AS crashed, count(DISTINCT device_id) AS devices,
                min(started) AS first_started, max(started) AS last_started
            FROM run GROUP BY app, version;
        CREATE VIEW day AS
            SELECT substr(started, 1, 10) AS day, app, bug, count(*) AS runs, count(DISTINCT device_id) AS devices
            FROM run WHERE started IS NOT NULL GROUP BY day, app, bug;
        """
}
