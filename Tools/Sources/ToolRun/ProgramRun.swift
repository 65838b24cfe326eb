#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// What `launchguard run` does, as its command line says.
package struct ProgramRun {
    /// The program and its arguments, after `--` or not.
    private var command: [String]
    package var name: String?
    package var directory: String?
    package var log: String?
    package var isOnlyProgram = false
    package var isWitnessOnly = false
    package var keepsWords = true
    package var isQuiet = false
    /// Nil: the program is started once.
    package var restart: RestartOptions?

    package init(command: [String]) { self.command = command }

    /// Reads the words after `run`: some of the options below, and a program.
    /// Nil: the parser has to read the words, and says what is wrong with them. The parser looks
    /// through all types of the tool for each option, which takes longer than all else before the
    /// program starts.
    package init?(plain words: [String]) {
        var options = words[...]
        self.init(command: [])
        while let option = options.first, option != "--", option.hasPrefix("-") {
            options = options.dropFirst()
            switch option {
            case "--only-program": isOnlyProgram = true
            case "--witness-only": isWitnessOnly = true
            case "--quiet": isQuiet = true
            case "--no-keep-stderr": keepsWords = false
            case "--name", "--directory", "--log":
                let path: WritableKeyPath<Self, String?> = option == "--name" ? \.name : option == "--log" ? \.log : \.directory
                guard let value = options.popFirst(), !value.hasPrefix("-"), self[keyPath: path] == nil else { return nil }
                self[keyPath: path] = value
            default: return nil
            }
        }
        guard !options.isEmpty else { return nil }
        command = Array(options)
        guard name.map(Self.isName) ?? true else { return nil }
    }

    /// Whether records can have this name.
    package static func isName(_ name: String) -> Bool {
        let isFolder = !name.hasPrefix(".") && !name.hasPrefix("ledger.lg") && !["runs", "spool"].contains(name)
        return isFolder && 1...63 ~= name.utf8.count && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
    }

    package func start() -> Never {
        do throws(RunError) {
            let words = try words()
            let file = try ProgramFile(words.first ?? "")
            let messages = RunMessages(path: log?.absolute, isQuiet: isQuiet)
            let obstacle = isWitnessOnly ? nil : file.obstacle
            let environment = try environment(obstacle)
            if restart != nil, isWitnessOnly || obstacle != nil {
                throw RunError(RunError.ownFailure, "\(file.path): --restart needs the records of the program; none are written \(obstacle.map { "as it \($0.text)" } ?? "with --witness-only")")
            }
            if !isWitnessOnly, let directory, let error = Self.make(directory.absolute) {
                messages.say("\(directory): it cannot be made: \(RunError.reason(error)); the program runs without records")
            }
            if let obstacle { messages.say("\(file.path): it \(obstacle.text), so that only its end is watched; no record is written") }
            try start(file, words.count, environment, isRecorded: !isWitnessOnly && obstacle == nil, messages)
        } catch {
            Output.complain(error.message)
            exit(error.status)
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
    private func start(_ file: ProgramFile, _ count: Int, _ environment: ProgramEnvironment, isRecorded: Bool, _ messages: RunMessages) throws(RunError) -> Never {
        let witness = RunWitness(directory)
        let program = ProgramStart(file, argumentCount: count)
        if let restart {
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
