import ArgumentParser
internal import GRDB
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// Reads sources into the database, some hundred runs in one transaction: committed runs stay,
/// however the program ends. A file that cannot be read is named, and hides no other.
struct Collector {
    private static let runsInTransaction = 512

    let database: FleetDatabase
    let symbols: SymbolOptions
    private var devices: DeviceBook
    private(set) var outcome = Outcome()
    private var progress = Progress()
    private var waiting: [Waiting] = []

    /// A run file that is to be read, with what its directory knows.
    private struct Waiting: Sendable {
        var path: String
        var known: Known
    }

    /// Outcome of a collection.
    struct Outcome {
        var runs = 0
        var newRuns = 0
        var directories = 0
        /// Files and arguments that could not be read, or not whole.
        var isDamaged = false
        var isUnread = false
    }

    init(_ database: FleetDatabase, _ rule: DeviceRule, symbols: SymbolOptions) {
        self.database = database
        self.symbols = symbols
        devices = DeviceBook(rule, source: .init(name: "", path: ""), now: Timestamp.now.secondsText)
    }

    /// Collects one argument. Only a problem of the database is thrown.
    mutating func collect(_ argument: String) async throws {
        devices.source = Source.named(argument)
        do {
            for directory in try Source.directories(in: argument) {
                let folder = try devices.folder(of: directory.path)
                if folder != devices.folder {
                    // What waits is of the device before.
                    try await store()
                    devices.folder = folder
                }
                try await collect(directory)
            }
            try await store()
        } catch let error as ReportError {
            complain(error)
        } catch let error as ExitCode {
            // It has been said.
            outcome.isDamaged = outcome.isDamaged || error == ExitStatus.damaged.code
            outcome.isUnread = true
        }
        Tarball.end()
        outcome.isDamaged = outcome.isDamaged || Tarball.isDamaged
    }

    /// Says which machine ids several devices seem to have; how many there are.
    mutating func finish() throws -> Int {
        progress.end()
        let clones = try database.write { try Clone.mark($0) }
        for clone in clones where devices.isByMachine { Output.complain(clone.words) }
        return clones.count
    }

    private mutating func collect(_ directory: StateDirectory) async throws {
        outcome.directories += 1
        let known = Known(directory)
        let paths: [String]
        do throws(ReportError) {
            paths = try directory.runPaths()
        } catch {
            return complain(error)
        }
        for path in paths {
            waiting.append(Waiting(path: path, known: known))
            if waiting.count == Self.runsInTransaction { try await store() }
        }
    }

    private mutating func store() async throws {
        let files = waiting
        waiting.removeAll()
        try store(await Self.read(files))
        progress.show("\(outcome.runs) runs collected")
    }

    /// Facts about the runs from the ledger and the spool.
    private struct Known: Sendable {
        let timeline: [String: TimelineEntry]
        let fingerprints: [String: String]

        init(_ directory: StateDirectory) {
            let entries = (try? Reader(path: directory.ledgerPath).ledger().timeline) ?? []
            timeline = Dictionary(entries.map { ($0.uuid, $0) }) { first, _ in first }
            // A report of a living run is not of its end.
            let sent = ((try? directory.deliveries()) ?? []).filter { $0.end != .running }
            fingerprints = Dictionary(sent.compactMap { entry in entry.runUUID.flatMap { run in entry.fingerprint.map { (run, $0) } } }) { first, _ in first }
        }
    }

    // MARK: - Reading

    private enum Read: Sendable {
        case run(CollectedRun)
        case nothing(path: String)
        case problem(ReportError)
    }

    /// Each file is some thirty system calls, so that every processor takes a part.
    private static func read(_ files: [Waiting]) async -> [Read] {
        let size = 128
        return await withTaskGroup { group in
            for start in stride(from: 0, to: files.count, by: size) {
                let part = files[start..<min(start + size, files.count)]
                group.addTask { (start, part.map { read($0.path, $0.known) }) }
            }
            var parts: [Int: [Read]] = [:]
            for await (start, reads) in group { parts[start] = reads }
            return parts.keys.sorted().flatMap { parts[$0] ?? [] }
        }
    }

    private static func read(_ path: String, _ known: Known) -> Read {
        do throws(ReportError) {
            return try CollectedRun(Reader(path: path), known.timeline, known.fingerprints).map { .run($0) } ?? .nothing(path: path)
        } catch {
            return .problem(error)
        }
    }

    private mutating func complain(_ error: ReportError) {
        progress.end()
        Output.complain("\(error)")
        outcome.isDamaged = outcome.isDamaged || ExitStatus(error) == .damaged
        outcome.isUnread = true
    }

    private mutating func complain(_ path: String, _ words: String) {
        progress.end()
        Output.complain("\(path): \(words)")
        outcome.isDamaged = true
    }

    // MARK: - Storing

    private mutating func store(_ reads: [Read]) throws {
        var runs: [CollectedRun] = []
        for read in reads {
            switch read {
            case .run(let run):
                runs.append(run)
                let damaged = run.report.problems.filter(\.isDamage).map(\.part)
                if !damaged.isEmpty { complain(run.report.path, "damaged: \(damaged.prefix(4).joined(separator: ", ")); the rest of it is collected") }
            case .nothing(let path): complain(path, "damaged: the file does not say which run it is of")
            case .problem(let error): complain(error)
            }
        }
        addSymbols(to: &runs)
        for index in runs.indices { runs[index].makeKey() }
        let best = Dictionary(grouping: runs.filter { $0.key != nil }, by: { $0.key?.key ?? "" })
            .compactMapValues { $0.max { $0.completeness < $1.completeness } }
        let known = try completeness(of: Array(best.keys), beside: runs)
        var examples = best.compactMap { key, run in run.completeness > known[key] ?? -1 ? Example(run, key: key) : nil }
        if !examples.isEmpty { Example.addSymbols(to: &examples, symbols) }
        var book = devices
        outcome.newRuns += try database.write { database in
            let before = try Self.count(database)
            var merges = try Merges(database)
            for run in runs {
                let device = try book.device(of: run.report, database)
                let bug = run.key.map { merges.bug(of: $0.key) }
                if let key = run.key, let bug {
                    try run.storeBugs([key.key, bug], database)
                    try merges.take(key, database)
                }
                try run.store(database, device: device, bug: bug, at: book.now)
                if book.isNamed { try database.execute(sql: "UPDATE run SET device_id = ? WHERE uuid = ?", arguments: [device, run.report.identity?.uuid]) }
            }
            for example in examples { try example.store(database) }
            try database.execute(sql: Self.removeWhatNoRunHas)
            return try Self.count(database) - before
        }
        devices = book
        outcome.runs += runs.count
    }

    private static func count(_ database: Database) throws -> Int { try Int.fetchOne(database, sql: "SELECT count(*) FROM run") ?? 0 }

    /// A run may have another key than before.
    private static let removeWhatNoRunHas = """
        DELETE FROM example WHERE key IS NOT (SELECT key FROM run WHERE uuid = run_uuid);
        DELETE FROM bug WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.key = bug.key) AND NOT EXISTS (SELECT 1 FROM run WHERE run.bug = bug.key)
        """

    /// One look for all of them.
    private func addSymbols(to runs: inout [CollectedRun]) {
        let indexes = runs.indices.filter { runs[$0].report.crash != nil || runs[$0].report.snapshots != nil }
        guard !indexes.isEmpty else { return }
        var reports = indexes.map { runs[$0].report }
        symbols.apply(to: &reports)
        for (index, report) in zip(indexes, reports) { runs[index].report = report }
    }

    /// Completeness of the keys' examples, without those that have another key now.
    private func completeness(of keys: [String], beside runs: [CollectedRun]) throws -> [String: Int] {
        let now = Dictionary(runs.compactMap { run in run.report.identity.map { ($0.uuid, run.key?.key) } }) { _, last in last }
        return try database.read { database in
            var result: [String: Int] = [:]
            for key in keys {
                let sql = "SELECT run_uuid, completeness FROM example WHERE key = ?"
                guard let row = try Row.fetchOne(database, sql: sql, arguments: [key]), now[try row.value("run_uuid"), default: key] == key else { continue }
                result[key] = try row.value("completeness")
            }
            return result
        }
    }
}
