import ArgumentParser
import LaunchGuardReports

/// The command-line tool: reads ledgers and run files, of dead and of living processes, and
/// simulates launches.
@main
struct LaunchGuardTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launchguard",
        abstract: "Read the records of LaunchGuard: how runs ended, why, and what came before.",
        discussion: """
            DIR is the state directory of an application, with ledger.lg and the run files runs/*.lgrun. Without DIR the tool \
            uses the first part of $STATE_DIRECTORY, or else the current directory if it holds a ledger. The tool never disturbs a \
            living process, and writes to these files in witness and reset alone. upload asks an agent to send the reports of DIR/spool.

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
              launchguard simulate crash crash ok finish
              launchguard upload /var/lib/notes
            """,
        version: Reader.libraryVersion,
        subcommands: [ListCommand.self, InspectCommand.self, LogCommand.self, VerifyCommand.self, ExportCommand.self, SimulateCommand.self, UploadCommand.self]
            + [WitnessCommand.self, VerdictCommand.self, ResetCommand.self, SymbolizeCommand.self] + onLinux
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
        do {
            try checkCommand(arguments)
            var command = try parseAsRoot(arguments)
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
            exit(withError: arguments.first == "run" ? ExitCode(RunError.ownFailure) : ExitStatus.usage.code)
        }
        // What is missing may have been in the part of the tarball that is.
        exit(withError: Tarball.isDamaged && exitCode(for: error) == ExitStatus.nothingFound.code ? ExitStatus.damaged.code : error)
    }

    /// Whether the command is one, which the parser says in fewer words.
    private static func checkCommand(_ arguments: [String]) throws {
        let names = configuration.subcommands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName } + ["help"]
        guard let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first else { return }
        if word.hasPrefix("-") || names.contains(word) || word == SymbolizeCommand.name { return }
        let path = try Path.isFolder(word) == nil ? "" : " 'launchguard list \(word)' shows what is there."
        let suggestion = path.isEmpty ? Suggestion.text(for: word, among: names) : path
        throw ValidationError("'\(word)' is no command.\(suggestion) The commands are: \(names.joined(separator: ", ")).")
    }
}

/// The arguments, in which paths need not be text.
private var arguments: [String] {
    unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().compactMap { unsafe $0.map { unsafe Path.text($0) } }
}

/// The meanings of the tool's exit status.
enum ExitStatus: Int32 {
    case success = 0
    case nothingFound = 1
    case usage = 2
    case damaged = 3
    /// `upload`: reports are left; nothing can be sent.
    case unsent = 4
    case cannotSend = 5
    /// `witness`, `reset`: not now, as the files are another's or have a word already.
    case refused = 6
    /// `doctor`: warnings; errors.
    case weakened = 7
    case broken = 8

    init(_ error: ReportError) {
        self = error.code == .damaged || error.code == .newer || error.code == .older ? .damaged : .nothingFound
    }

    var code: ExitCode { ExitCode(rawValue) }

    /// Ends the command with this status.
    func end() throws {
        if self != .success { throw code }
    }
}
