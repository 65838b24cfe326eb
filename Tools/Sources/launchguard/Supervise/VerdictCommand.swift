import ArgumentParser
import LaunchGuardReportModel

/// `launchguard verdict`
struct VerdictCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verdict",
        abstract: "Say in one line how the last run ended, and what the next launch will be; with an exit status for supervisors.",
        discussion: """
            The last run is the newest one of the primary process. A context is a launch of the program. Its state is that of the \
            next launch if that launch began now, or of the launch that is under way.

            EXIT STATUS
              0   the program ended as it or its user wanted: clean, terminated, debugger
              1   no run was found, or the files may not be read
              2   the command line is wrong
              3   a file is damaged, and no run can be read
              10  crash
              11  hang
              12  oom: ended for lack of memory
              13  killed by SIGKILL
              14  exit with a status other than 0
              15  unknown: a witness would have known it
              16  reboot: the machine was started again meanwhile
              17  the program runs
              20  halted: repairs and safe mode did not help, however the last run ended. Starting the program again does not \
            help: repair it from outside, then run launchguard reset.

            EXAMPLES
              launchguard verdict /var/lib/notes
              launchguard verdict /var/lib/notes >/dev/null || test $? -ne 20 || systemctl stop notes
              launchguard verdict --json /var/lib/notes | jq -r .verdict.end
            """
    )

    @Argument(help: "The state directory. Default: $STATE_DIRECTORY, or the current directory.", completion: .directory)
    var directory: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var symbols: SymbolOptions

    func run() throws {
        let directory = try Target(self.directory).stateDirectory(for: "verdict")
        let ledger = try directory.ledger()
        guard let last = LastEnd(directory, ledger, symbols) else {
            Output.complain("\(directory.path): no run \(ledger.isDamaged ? "can be read" : "has been recorded here")")
            throw (ledger.isDamaged ? ExitStatus.damaged : .nothingFound).code
        }
        if output.json {
            Output.writeLine(json: last)
        } else {
            var writer = Output.makeWriter()
            writer.line(last.text)
            Output.write(writer.bytes)
        }
        if last.exitStatus != 0 { throw ExitCode(last.exitStatus) }
    }
}
