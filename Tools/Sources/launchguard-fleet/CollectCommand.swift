import ArgumentParser
internal import GRDB
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// `launchguard collect`
struct CollectCommand: AsyncParsableCommand {
    static let configuration = CollectOptions.command
    @OptionGroup var options: CollectOptions

    func run() async throws {
        let database = try FleetDatabase(collectingInto: options.into)
        var collector = Collector(database, options.rule, symbols: options.symbols)
        for source in options.sources { try await collector.collect(source) }
        let clones = try collector.finish()
        if let place = options.to {
            if let server = RowServer(place) { try server.load(database) } else { try RowFiles.write(database, to: place) }
        }
        let after = try Figures(database)
        let outcome = collector.outcome
        if options.output.json {
            Output.writeLine(json: Collected(database: options.into, directories: outcome.directories, runs: outcome.runs, newRuns: outcome.newRuns, devices: after.devices, clonedMachines: clones))
        } else if outcome.directories > 0 {
            let directories = outcome.directories == 1 ? "1 state directory" : "\(outcome.directories) state directories"
            let runs = outcome.runs == 1 ? "1 run" : "\(outcome.runs) runs"
            let devices = after.devices == 1 ? "1 device" : "\(after.devices) devices"
            Output.write("\(runs) in \(directories), \(outcome.newRuns) of them new; \(options.into) has \(after.runs) of \(devices)\n")
        }
        try (outcome.isDamaged ? ExitStatus.damaged : outcome.isUnread || outcome.directories == 0 ? .nothingFound : .success).end()
    }

    /// Figures of the database.
    private struct Figures {
        let runs: Int
        let devices: Int

        init(_ database: FleetDatabase) throws {
            (runs, devices) = try database.read { database in
                (try Int.fetchOne(database, sql: "SELECT count(*) FROM run") ?? 0, try Int.fetchOne(database, sql: "SELECT count(*) FROM device") ?? 0)
            }
        }
    }

    private struct Collected: Encodable {
        let schema = RunReport.currentSchema
        let type = "collected"
        var database: String
        var directories: Int
        var runs: Int
        var newRuns: Int
        var devices: Int
        var clonedMachines: Int
    }
}
