import ArgumentParser
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// `launchguard top`
struct TopCommand: ParsableCommand {
    static let configuration = TopOptions.command
    @OptionGroup var options: TopOptions

    func run() throws {
        let database = try FleetDatabase(reading: options.fleet.database)
        let ranking = try Ranking(database, app: options.app, pair: options.pair, lines: options.lines, all: options.all)
        if options.output.json {
            Output.write(try ranking.groups.map(FleetLine.text).joined())
        } else if let folder = options.pages {
            if !ranking.groups.isEmpty { try FleetPages.write(database, ranking, to: folder) }
        } else if options.html {
            Output.write(ranking.page.bytes)
        } else {
            var writer = Output.makeWriter(isCut: true)
            ranking.write(to: &writer)
            Output.write(writer.bytes)
        }
        if ranking.groups.isEmpty {
            Output.complain("\(options.fleet.database): \(ranking.emptyWords)")
            throw ExitStatus.nothingFound.code
        }
    }
}
