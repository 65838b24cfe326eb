import ArgumentParser
import LaunchGuardReportModel
import ToolBase
import ToolParts

/// The commands of the tool that keep a database. `launchguard` starts this program with its own
/// command line.
@main
struct FleetTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launchguard",
        abstract: "Keep the runs of many devices in a database.",
        discussion: "launchguard starts this program for its commands collect, top, show, resolve, mute and merge.",
        subcommands: [CollectCommand.self, TopCommand.self, ShowCommand.self, ResolveCommand.self, MuteCommand.self, MergeCommand.self, SymbolizeCommand.self, DemangleCommand.self, WalkCommand.self]
    )

    static func main() async {
        do {
            var command = try parseAsRoot(CommandLine.paths)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Tarball.end()
            end(with: error)
        }
    }

    private static func end(with error: any Error) -> Never {
        if let error = error as? FleetError {
            Output.complain("\(error)")
            exit(withError: error.status.code)
        }
        if let error = error as? ExportError {
            Output.complain("\(error)")
            exit(withError: ExitStatus.nothingFound.code)
        }
        if exitCode(for: error) == .validationFailure {
            Output.write(fullMessage(for: error) + "\n", to: .error)
            exit(withError: ExitStatus.usage.code)
        }
        exit(withError: error)
    }
}
