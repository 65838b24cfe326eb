#if os(Linux)
import ArgumentParser
import CProcess
import LaunchGuardPlatform
import LaunchGuardReports

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
        guard let name else { return }
        let isFolder = !name.hasPrefix(".") && !name.hasPrefix("ledger.lg") && !["runs", "spool"].contains(name)
        let isName = 1...63 ~= name.utf8.count && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
        guard isName, isFolder else { throw ValidationError("--name takes 1 to 63 letters, digits, '.', '-' or '_', and the name of no file of LaunchGuard.") }
    }

    func run() throws {
        if ["--help", "-h"].contains(command.first) { throw CleanExit.helpRequest(self) }
        do throws(RunError) {
            let words = try words()
            let file = try ProgramFile(words.first ?? "")
            let messages = RunMessages(path: log?.absolute, isQuiet: isQuiet)
            let obstacle = isWitnessOnly ? nil : file.obstacle
            let environment = try environment(obstacle)
            if restart.isOn, isWitnessOnly || obstacle != nil {
                throw RunError(RunError.ownFailure, "\(file.path): --restart needs the records of the program; none are written \(obstacle.map { "as it \($0.text)" } ?? "with --witness-only")")
            }
            if !isWitnessOnly, let directory, let error = Self.make(directory.absolute) {
                messages.say("\(directory): it cannot be made: \(RunError.reason(error)); the program runs without records")
            }
            if let obstacle { messages.say("\(file.path): it \(obstacle.text), so that only its end is watched; no record is written") }
            try start(file, words.count, environment, isRecorded: !isWitnessOnly && obstacle == nil, messages)
        } catch {
            Output.complain(error.message)
            throw ExitCode(error.status)
        }
    }

    /// The program and its arguments.
    private func words() throws(RunError) -> [String] {
        guard let first = command.first else { throw RunError(RunError.ownFailure, "name the program to run: launchguard run -- PROGRAM") }
        guard first.hasPrefix("-") else { return command }
        guard first == "--" else { throw RunError(RunError.ownFailure, "unknown option \(first); -- stands before a program of that name") }
        guard command.count > 1 else { throw RunError(RunError.ownFailure, "name the program to run after --") }
        return Array(command.dropFirst())
    }

    private func environment(_ obstacle: PreloadObstacle?) throws(RunError) -> ProgramEnvironment {
        var environment = ProgramEnvironment()
        environment.giveOwnNumbers()
        guard !isWitnessOnly, obstacle?.leavesChildren != false else { return environment }
        environment.preload(try PreloadLibrary.path())
        environment.giveNumber("LAUNCHGUARD_PROGRAM")
        environment.set("LAUNCHGUARD_NAME", name)
        environment.set("LAUNCHGUARD_ONLY_PROGRAM", isOnlyProgram ? "1" : nil)
        if let directory { environment.set("LAUNCHGUARD_DIRECTORY", directory.absolute) }
        if let log { environment.set("LAUNCHGUARD_LOG", log.absolute) }
        return environment
    }

    /// Makes a folder and those above it; a number of the system: that is not possible.
    private static func make(_ folder: String) -> Int32? {
        if (try? ReportPath.isFolder(folder)) == true { return nil }
        if let slash = folder.lastIndex(of: "/"), slash > folder.startIndex, let error = make(String(folder[..<slash])) { return error }
        return unsafe ReportPath.withCString(folder) { unsafe mkdir($0, 0o700) } == 0 || errno == EEXIST ? nil : errno
    }

    /// Runs the program with the last arguments of this process, and ends as the program does.
    private func start(_ file: ProgramFile, _ count: Int, _ environment: ProgramEnvironment, isRecorded: Bool, _ messages: RunMessages) throws(RunError) {
        let witness = RunWitness(directory)
        let program = ProgramStart(file, argumentCount: count)
        if restart.isOn {
            try Restarter(
                options: restart, program: program, name: file.path, environment: environment, witness: witness, keepsWords: keepsWords, messages: messages
            ).run()
        }
        let words = isRecorded && keepsWords ? KeptWords() : nil
        let started = try program.program(environment, words)
        // The program could not close a descriptor that stays open here, and nobody could unmount
        // a file system that this process stays on.
        lg_shim_release_files(isRecorded ? -1 : messages.descriptor, -1)
        _ = unsafe chdir("/")
        var parent = ProgramParent(started, witness, words, hasRecords: !isWitnessOnly)
        let status = parent.waitForEnd()
        if !isRecorded, status & 0x7F != 0 {
            messages.say("\(file.path): it died of \(RunSignal(status & 0x7F).name)", descriptor: LG_SHIM_KEPT_FILE)
        }
        ProgramParent.end(as: status)
    }
}
#endif
