import ArgumentParser
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// `launchguard show`
struct ShowCommand: ParsableCommand {
    static let configuration = ShowOptions.command
    @OptionGroup var options: ShowOptions

    func run() throws {
        let database = try FleetDatabase(reading: options.fleet.database)
        let shown = try ShownBug(database, digits: options.bug.digits)
        if options.output.json {
            Output.write(try FleetLine.text(shown))
        } else if options.html {
            Output.write(shown.page.bytes)
        } else {
            var writer = Output.makeWriter()
            shown.write(to: &writer)
            Output.write(writer.bytes)
        }
    }
}
