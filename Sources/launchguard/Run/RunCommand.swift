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
        usage: "launchguard run [--directory <dir>] [--log <file>] [--witness-only] [--quiet] [--] <program> [<argument> ...]",
        discussion: """
            A library that is loaded into the program, and into all programs that it starts, writes the records. The program has the \
            same standard streams, descriptors, terminal, signals, limits and exit status as without it. The library is that of \
            $LAUNCHGUARD_PRELOAD, else lib/launchguard/launchguard-preload.so of the prefix of this tool, of /usr/local or of /usr.

            Into a program that is statically linked, or that has more rights than its caller, nothing can be loaded. How it ended \
            is then a line on standard error if a signal ended it, and its children are recorded where they can be.

            EXIT STATUS
              that of the program; the signal that ended the program ends the tool
              125  the tool failed, or its command line is wrong
              126  the program may not be run
              127  there is no such program

            EXAMPLES
              launchguard run -- nginx -g 'daemon off;'
              launchguard run --directory /var/lib/records -- python3 server.py
            """
    )

    @Option(help: ArgumentHelp("The folder in which each program gets its state directory.", valueName: "dir"), completion: .directory)
    var directory: String?

    @Option(help: ArgumentHelp("The file for what is said about recording; without it standard error.", valueName: "file"), completion: .file())
    var log: String?

    @Flag(name: .customLong("witness-only"), help: "Load nothing into the program: only say how it ended.")
    var isWitnessOnly = false

    @Flag(name: .customLong("quiet"), help: "Say nothing.")
    var isQuiet = false

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.")
    var command: [String] = []

    func run() throws {
        if ["--help", "-h"].contains(command.first) { throw CleanExit.helpRequest(self) }
        do throws(RunError) {
            let words = try words()
            let file = try ProgramFile(words.first ?? "")
            let messages = RunMessages(path: log?.absolute, isQuiet: isQuiet)
            let obstacle = isWitnessOnly ? nil : file.obstacle
            let environment = try environment(obstacle)
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
        guard command.count > 1 else { throw RunError(RunError.ownFailure, "name the program to run behind --") }
        return Array(command.dropFirst())
    }

    private func environment(_ obstacle: PreloadObstacle?) throws(RunError) -> ProgramEnvironment {
        var environment = ProgramEnvironment()
        environment.giveOwnNumbers()
        guard !isWitnessOnly, obstacle?.leavesChildren != false else { return environment }
        environment.preload(try PreloadLibrary.path())
        if let directory { environment.set("LAUNCHGUARD_DIRECTORY", directory.absolute) }
        if let log { environment.set("LAUNCHGUARD_LOG", log.absolute) }
        return environment
    }

    /// Runs the program with the last arguments of this process, and ends as the program does.
    private func start(_ file: ProgramFile, _ count: Int, _ environment: ProgramEnvironment, isRecorded: Bool, _ messages: RunMessages) throws(RunError) {
        let witness = RunWitness(directory)
        let own = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        // Room in front for a shell, should the program be a script that names none.
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [nil] + own.suffix(count) + [nil]
        var variables = unsafe environment.variables, numbers = unsafe environment.ownNumbers
        var given = lg_shim_signals()
        var process: pid_t = 0
        unsafe lg_shim_take_signals(&given)
        let error = unsafe Path.withCString(file.path) { path in
            unsafe arguments.withUnsafeMutableBufferPointer { arguments in
                unsafe variables.withUnsafeMutableBufferPointer { variables in
                    unsafe numbers.withUnsafeMutableBufferPointer { numbers in
                        var program = unsafe lg_shim_program(
                            path: path, arguments: arguments.baseAddress! + 1, environment: variables.baseAddress, own_numbers: numbers.baseAddress)
                        return unsafe lg_shim_start_program(&program, &given, &process)
                    }
                }
            }
        }
        guard error == 0 else { throw file.refused(error) }
        // What stays open here the program could not close, and where this process stays nothing
        // could be unmounted.
        lg_shim_release_files(isRecorded ? -1 : messages.descriptor)
        _ = unsafe chdir("/")
        let status = ProgramParent(process, witness).waitForEnd()
        if !isRecorded, status & 0x7F != 0 {
            messages.say("\(file.path): it died of \(RunSignal(status & 0x7F).name)", descriptor: LG_SHIM_KEPT_FILE)
        }
        ProgramParent.end(as: status)
    }
}
#endif
