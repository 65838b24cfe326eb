import ArgumentParser
internal import GRDB
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// `launchguard resolve`
struct ResolveCommand: ParsableCommand {
    static let configuration = ResolveOptions.command
    @OptionGroup var options: ResolveOptions

    func run() throws {
        let decision = options.undo ? nil : Decision(state: .resolved, version: options.version, decided: Timestamp.now.description)
        try Decision.decide(decision, .resolved, of: options.bug, in: options.fleet.database)
    }
}

/// `launchguard mute`
struct MuteCommand: ParsableCommand {
    static let configuration = MuteOptions.command
    @OptionGroup var options: MuteOptions

    func run() throws {
        let decision = options.undo ? nil : Decision(state: .muted, version: nil, decided: Timestamp.now.description)
        try Decision.decide(decision, .muted, of: options.bug, in: options.fleet.database)
    }
}

/// `launchguard merge`
struct MergeCommand: ParsableCommand {
    static let configuration = MergeOptions.command
    @OptionGroup var options: MergeOptions

    func run() throws {
        let fleet = try FleetDatabase(reading: options.fleet.database)
        let words = try fleet.write { database in
            var merges = try Merges(database)
            let bug = try BugName.key(options.bug.digits, database, fleet.path)
            if options.undo {
                let keys = try String.fetchAll(
                    database, sql: "SELECT key FROM merge WHERE is_by_hand AND bug BETWEEN ?1 AND ?1 || 'g' AND key BETWEEN ?2 AND ?2 || 'g'", arguments: [bug, options.other.digits])
                guard keys.count == 1, try merges.split(keys[0], database) else {
                    throw FleetError(fleet.path, "nobody merged a bug that begins with \(options.other.digits) into \(options.bug.digits)", .nothingFound)
                }
                return "\(BugGroup.short(keys[0])) and \(BugGroup.short(bug)) are two bugs again"
            }
            let other = try BugName.key(options.other.digits, database, fleet.path)
            guard bug != other else { throw FleetError(fleet.path, "\(options.bug.digits) and \(options.other.digits) are one bug already", .nothingFound) }
            let apps = try String.fetchAll(database, sql: "SELECT DISTINCT app FROM bug WHERE key IN (?, ?)", arguments: [bug, other])
            guard apps.count == 1 else {
                throw FleetError(fleet.path, "these are bugs of two applications, \(apps.joined(separator: " and ")); a bug is of one", .nothingFound)
            }
            try merges.merge(other, into: bug, isByHand: true, database)
            return "\(BugGroup.short(other)) counts as \(BugGroup.short(bug))"
        }
        Output.write(words + "\n")
    }
}

/// What a person decided of a bug.
struct Decision {
    enum State: String {
        case resolved, muted
    }

    var state: State
    /// The first version that has it resolved; nil: none was said.
    var version: String?
    var decided: String

    init(state: State, version: String?, decided: String) {
        self.state = state
        self.version = version
        self.decided = decided
    }

    /// Of a row of the view `ranking`; nil: nothing was decided.
    init?(_ row: Row) throws {
        guard let word: String = try row.value("state"), let state = State(rawValue: word), let decided: String = try row.value("decided") else { return nil }
        self.init(state: state, version: try row.value("resolved_in"), decided: decided)
    }

    /// The part of a bug's runs that has it although it was resolved: of the version that was first
    /// seen.
    func again(in versions: [BugGroup.Part], _ order: VersionOrder) -> BugGroup.Part? {
        guard state == .resolved else { return nil }
        let again = versions.filter { part in
            guard let version else { return (part.lastStarted ?? "") > decided }
            return part.version.flatMap { order.isAtLeast($0, version) } == true
        }
        return again.min { ($0.firstStarted ?? "") < ($1.firstStarted ?? "") }
    }

    static func decide(_ decision: Decision?, _ state: State, of bug: BugDigits, in path: String) throws {
        let fleet = try FleetDatabase(reading: path)
        let words = try fleet.write { database in
            let key = try BugName.key(bug.digits, database, path)
            guard let decision else {
                try database.execute(sql: "DELETE FROM decision WHERE bug = ? AND state = ?", arguments: [key, state.rawValue])
                guard database.changesCount > 0 else { throw FleetError(path, "\(BugGroup.short(key)) is not \(state.rawValue)", .nothingFound) }
                return "\(BugGroup.short(key)) is open again"
            }
            try database.execute(
                sql: """
                    INSERT INTO decision (bug, state, resolved_in, decided) VALUES (?, ?, ?, ?)
                    ON CONFLICT (bug) DO UPDATE SET state = excluded.state, resolved_in = excluded.resolved_in, decided = excluded.decided
                    """, arguments: [key, decision.state.rawValue, decision.version, decision.decided])
            return "\(BugGroup.short(key)) is \(decision.state.rawValue)" + (decision.version.map { " in \($0)" } ?? "")
        }
        Output.write(words + "\n")
    }
}
