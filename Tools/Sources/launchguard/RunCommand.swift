#if os(Linux)
import ArgumentParser
import ToolRun

/// `launchguard run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program that does not use LaunchGuard, and record how it ends.",
        usage: "launchguard run [--name <name>] [--directory <dir>] [--log <file>] [--only-program] [--witness-only] [--no-keep-stderr] [--quiet] [--restart ...] [--] <program> [<argument> ...]",
        discussion: """
            A library that is loaded into the program, and into all programs that it starts, writes the records. The program has the \
            same descriptors, terminal, signals, limits and exit status as without it. Standard error is a pipe, from which the text goes \
            where it would have gone, and its last 16 KiB into the record: the reason of an exit. So is standard output where both lead to \
            one place, so that their order stays. A terminal stays a terminal, and keeps nothing. The library is that of \
            $LAUNCHGUARD_PRELOAD, else lib/launchguard/launchguard-preload.so of the prefix of this tool, of /usr/local or of /usr.

            Into a program that is statically linked, or that has more rights than its caller, nothing can be loaded. How it ended \
            is then a line on standard error if a signal ended it, and its children are recorded where they can be.

            EXIT STATUS
              that of the program; the signal that ended the program ends the tool
               78  with --restart: the program is given up
              125  the tool failed, or its command line is wrong
              126  the program may not be run
              127  there is no such program

            EXAMPLES
              launchguard run -- nginx -g 'daemon off;'
              launchguard run --directory /var/lib/records -- python3 server.py
              launchguard run --restart --launch-check tcp:8080 --repair 'clean=rm -r /var/cache/notes' -- notes
            """
    )

    @Option(help: ArgumentHelp("The name of the program in the records, and of its state directory. (default: that of its script or its file)", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The folder in which each program gets its state directory.", valueName: "dir"), completion: .directory)
    var directory: String?

    @Option(help: ArgumentHelp("The file for what is said about recording; without it standard error.", valueName: "file"), completion: .file())
    var log: String?

    @Flag(name: .customLong("only-program"), help: "Record no programs that the program starts; without this, those that end badly.")
    var isOnlyProgram = false

    @Flag(name: .customLong("witness-only"), help: "Load nothing into the program: only say how it ended.")
    var isWitnessOnly = false

    @Flag(name: .customLong("keep-stderr"), inversion: .prefixedNo, help: "Keep the last 16 KiB of standard error as the reason of an exit.")
    var keepsWords = true

    @Flag(name: .customLong("quiet"), help: "Say nothing.")
    var isQuiet = false

    @OptionGroup(title: "Options of a restart")
    var restart: RestartOptions

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.")
    var command: [String] = []

    func validate() throws {
        guard name.map(ProgramRun.isName) ?? true else { throw ValidationError("--name takes 1 to 63 letters, digits, '.', '-' or '_', and the name of no file of LaunchGuard.") }
    }

    func run() throws {
        if ["--help", "-h"].contains(command.first) { throw CleanExit.helpRequest(self) }
        var run = ProgramRun(command: command)
        run.name = name
        run.directory = directory
        run.log = log
        run.isOnlyProgram = isOnlyProgram
        run.isWitnessOnly = isWitnessOnly
        run.keepsWords = keepsWords
        run.isQuiet = isQuiet
        run.restart = restart.isOn ? restart : nil
        run.start()
    }
}
#endif
