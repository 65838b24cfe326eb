internal import GRDB
import ToolParts

/// The tables of the database. docs/FLEET.md describes them, for queries by hand; a change of them
/// is a further step.
enum FleetSchema {
    /// Each leads from a version to the next.
    private static let steps = [first]
    /// "LGfl", as PRAGMA application_id.
    private static let applicationID = 0x4C47_666C

    /// Makes the tables of a database that is empty, or brings them up to date.
    static func migrate(_ database: Database, _ path: String) throws {
        let found = try version(of: database, path)
        for step in steps[found...] { try database.execute(sql: step) }
        if found < steps.count { try database.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(steps.count)") }
    }

    /// The version of a fleet; 0: the database is empty. Throws where it is another one, or newer.
    static func version(of database: Database, _ path: String) throws -> Int {
        let found = try number(database, "user_version")
        if found == 0, try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0 { return 0 }
        guard try number(database, "application_id") == applicationID, found > 0 else {
            throw FleetError(path, "it is an SQLite database, but not one of launchguard collect; name another file", .damaged)
        }
        guard found <= steps.count else {
            throw FleetError(path, "a newer launchguard made it (its version is \(found), and this one knows \(steps.count)); update launchguard", .damaged)
        }
        return found
    }

    private static func number(_ database: Database, _ name: String) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0
    }

    private static let first = """
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
            device_id INTEGER NOT NULL REFERENCES device (id)
        );
        CREATE TABLE fingerprint (
            fingerprint TEXT PRIMARY KEY,
            app TEXT NOT NULL,
            ending TEXT NOT NULL,
            headline TEXT NOT NULL,
            place TEXT
        );
        CREATE TABLE run (
            uuid TEXT PRIMARY KEY,
            device_id INTEGER NOT NULL REFERENCES device (id),
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
            fingerprint TEXT REFERENCES fingerprint (fingerprint),
            path TEXT NOT NULL,
            first_collected TEXT NOT NULL,
            last_collected TEXT NOT NULL
        );
        CREATE INDEX run_by_fingerprint ON run (fingerprint, started, version, device_id);
        CREATE INDEX run_by_version ON run (app, version, fingerprint);
        CREATE INDEX run_by_device ON run (device_id, started);
        CREATE INDEX run_by_start ON run (started);
        CREATE TABLE example (
            fingerprint TEXT PRIMARY KEY REFERENCES fingerprint (fingerprint),
            run_uuid TEXT NOT NULL REFERENCES run (uuid),
            completeness INTEGER NOT NULL,
            report TEXT NOT NULL
        );
        CREATE INDEX example_by_run ON example (run_uuid);
        CREATE VIEW ranking AS
            SELECT f.fingerprint, f.app, f.ending, count(*) AS runs, count(DISTINCT r.device_id) AS devices,
                min(r.started) AS first_started, max(r.started) AS last_started,
                (SELECT version FROM run WHERE fingerprint = f.fingerprint AND started IS NOT NULL ORDER BY started LIMIT 1) AS first_version,
                (SELECT version FROM run WHERE fingerprint = f.fingerprint AND started IS NOT NULL ORDER BY started DESC LIMIT 1) AS last_version,
                f.headline, f.place
            FROM fingerprint f JOIN run r ON r.fingerprint = f.fingerprint
            GROUP BY f.fingerprint;
        CREATE VIEW version AS
            SELECT app, version, count(*) AS runs, count(fingerprint) AS died, count(DISTINCT device_id) AS devices,
                min(started) AS first_started, max(started) AS last_started
            FROM run GROUP BY app, version;
        CREATE VIEW day AS
            SELECT substr(started, 1, 10) AS day, app, fingerprint, count(*) AS runs, count(DISTINCT device_id) AS devices
            FROM run WHERE started IS NOT NULL GROUP BY day, app, fingerprint;
        """
}
