import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

// The commands that keep a database are a program of their own, as a device has no use for it.

/// `launchguard collect`
struct CollectCommand: ParsableCommand {
    static let configuration = CollectOptions.command
    @OptionGroup var options: CollectOptions

    func run() throws { try FleetProgram.miss() }
}

/// `launchguard top`
struct TopCommand: ParsableCommand {
    static let configuration = TopOptions.command
    @OptionGroup var options: TopOptions

    func run() throws { try FleetProgram.miss() }
}

/// `launchguard show`
struct ShowCommand: ParsableCommand {
    static let configuration = ShowOptions.command
    @OptionGroup var options: ShowOptions

    func run() throws { try FleetProgram.miss() }
}

/// `launchguard resolve`
struct ResolveCommand: ParsableCommand {
    static let configuration = ResolveOptions.command
    @OptionGroup var options: ResolveOptions

    func run() throws { try FleetProgram.miss() }
}

/// `launchguard mute`
struct MuteCommand: ParsableCommand {
    static let configuration = MuteOptions.command
    @OptionGroup var options: MuteOptions

    func run() throws { try FleetProgram.miss() }
}

/// `launchguard merge`
struct MergeCommand: ParsableCommand {
    static let configuration = MergeOptions.command
    @OptionGroup var options: MergeOptions

    func run() throws { try FleetProgram.miss() }
}

/// `launchguard-fleet`, which takes the command line as it is.
enum FleetProgram {
    static let commands: [any ParsableCommand.Type] = [
        CollectCommand.self, TopCommand.self, ShowCommand.self, ResolveCommand.self, MuteCommand.self, MergeCommand.self,
    ]

    /// Starts that program in the place of the tool, if the command is one of its own and the
    /// program is there. Called before the command line is parsed, as that program reports errors
    /// in it.
    static func become(for arguments: [String]) {
        guard let name = arguments.first, commands.contains(where: { $0.configuration.commandName == name }) else { return }
        ProgramBeside.become(self.name)
    }

    /// Reports that the program is not there.
    static func miss() throws -> Never {
        if ProgramBeside.path(name) == nil {
            Output.complain("\(name) is not installed, which does this; it comes with the tool, and belongs beside launchguard or in libexec/launchguard")
        }
        throw ExitStatus.nothingFound.code
    }

    private static let name = "launchguard-fleet"
}
