import ArgumentParser
import LaunchGuardReportModel
@_exported import ToolBase
@_exported import ToolParts
import ToolRun

/// The command-line tool: reads ledgers and run files, of dead and of living processes, and
/// simulates launches.
@main
struct LaunchGuardTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launchguard",
        abstract: "Read the records of LaunchGuard: how runs ended, why, and what came before.",
        discussion: """
            DIR is the state directory of an application, with ledger.lg and the run files runs/*.lgrun. Without DIR the tool \
            uses the first part of $STATE_DIRECTORY, or else the current directory if it holds a ledger; list, inspect, log, \
            verify and export then use what launchguard run has made for this user. The tool never disturbs a living process, \
            and writes to these files in witness and reset alone. upload asks an agent to send the reports of DIR/spool.

            list, inspect, log, verify and export also read a tarball (.tar, .tar.gz, .tar.xz, .tar.zst, .tar.bz2) of such \
            directories; \
            device.tar/var/lib/notes is a path in it.

            EXIT STATUS
              0  everything is shown
              1  nothing was found, or the file may not be read; export: nothing can be written
              2  the command line is wrong, or an event of a simulation is not possible
              3  a file is damaged; its readable parts are shown
              4  upload: reports are left that were not sent
              5  upload: nothing can be sent
              6  witness, reset: a process lives, or the end is known already
            verdict and doctor have more; see their help.

            EXAMPLES
              launchguard list /var/lib/notes
              launchguard list -n 10 --end crash ~/.local/state
              launchguard inspect --last /var/lib/notes
              launchguard inspect /var/lib/notes
              launchguard inspect --run 12 /var/lib/notes
              launchguard log -f /var/lib/notes
              launchguard log device.tar.gz/var/lib/notes
              launchguard verify /var/lib/notes
              launchguard export --format minidump -o crash.dmp /var/lib/notes
              launchguard collect --into fleet.db device-*.tar.gz
              launchguard top fleet.db
              launchguard resolve 3fa2c9d1e0b7 --in 2.4 fleet.db
              launchguard simulate crash crash ok finish
              launchguard upload /var/lib/notes

            launchguard --version shows the version.
            """,
        subcommands: [ListCommand.self, InspectCommand.self, LogCommand.self, VerifyCommand.self, ExportCommand.self] + FleetProgram.commands
            + [SimulateCommand.self, UploadCommand.self, WitnessCommand.self, VerdictCommand.self, ResetCommand.self, UndoCommand.self, SymbolizeCommand.self, DemangleCommand.self, WalkCommand.self] + onLinux
    )

    /// A program is run on Linux only, and only such a system is looked at.
    private static var onLinux: [any ParsableCommand.Type] {
        #if os(Linux)
        [RunCommand.self, DoctorCommand.self]
        #else
        []
        #endif
    }

    static func main() async {
        // As a part of the configuration each command would have it, and top would have it twice.
        if CommandLine.paths == ["--version"] { return Output.write(Reader.libraryVersion + "\n") }
        FleetProgram.become(for: CommandLine.paths)
        do {
            try checkCommand(CommandLine.paths)
            var command = try parseAsRoot(CommandLine.paths)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Tarball.end()
            if Tarball.isDamaged { exit(withError: ExitStatus.damaged.code) }
        } catch {
            Tarball.end()
            end(with: error)
        }
    }

    private static func end(with error: any Error) -> Never {
        if let error = error as? ReportError {
            Output.complain("\(error)")
            exit(withError: ExitStatus(error).code)
        }
        if error is ExportError || error is Export.Impossible {
            Output.complain("\(error)")
            exit(withError: ((error as? Export.Impossible)?.status ?? .nothingFound).code)
        }
        if exitCode(for: error) == .validationFailure {
            Output.write(fullMessage(for: error) + "\n", to: .error)
            // The other numbers are those of the program.
            exit(withError: CommandLine.paths.first == "run" ? ExitCode(RunError.ownFailure) : ExitStatus.usage.code)
        }
        // A run that was not found may be in the missing part of a damaged tarball.
        exit(withError: Tarball.isDamaged && exitCode(for: error) == ExitStatus.nothingFound.code ? ExitStatus.damaged.code : error)
    }

    /// Whether the command is one, which the parser says in fewer words.
    private static func checkCommand(_ arguments: [String]) throws {
        let commands = configuration.subcommands.map { $0.configuration }
        let names = commands.filter(\.shouldDisplay).compactMap(\.commandName) + ["help"]
        guard let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first else { return }
        if word.hasPrefix("-") || names.contains(word) || commands.contains(where: { $0.commandName == word }) { return }
        let path = try ReportPath.isFolder(word) == nil ? "" : " 'launchguard list \(word)' shows what is there."
        let suggestion = path.isEmpty ? Suggestion.text(for: word, among: names) : path
        throw ValidationError("'\(word)' is no command.\(suggestion) The commands are: \(names.joined(separator: ", ")).")
    }
}
