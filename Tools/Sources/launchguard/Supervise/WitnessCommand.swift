import ArgumentParser
import LaunchGuard
import LaunchGuardReportModel

/// `launchguard witness`
struct WitnessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "Store how a process ended in the file of its run: for shells, and for ExecStopPost= of systemd.",
        discussion: """
            Only the parent of a process learns its status. A program that was killed, or that ended by _exit(), leaves nothing \
            that says so. Call this after the end of the process and before the next start of the program: that start decides \
            how the run ended.

            STATUS is $? of a shell. 0 to 128 and 193 to 255 are a status of exit(). 129 to 192 are the signal 128 less, as all \
            shells write it, unless the run's own file says that the program called exit() with that number. A program that \
            calls _exit(139) looks like a program that SIGSEGV ended. These forms say exactly what is meant:
              exit:139     the program ended with that status
              signal:SEGV  that signal ended it: a name or a number
              wait:139     the status as waitpid() returns it

            With --systemd the status is that of $EXIT_CODE and $EXIT_STATUS, and the run is the newest one of $INVOCATION_ID \
            that has ended and has no witness. The program must have called lg_start() in its service.

            EXIT STATUS
              0  the status is stored
              1  there is no such run, or its file may not be written
              2  the command line is wrong
              3  a file is damaged
              6  the process lives, has a witness already, or the program was started again before

            EXAMPLES
              notes & pid=$!; wait "$pid"; launchguard witness /var/lib/notes "$pid" "$?"
              launchguard witness /var/lib/notes 812 signal:KILL
              ExecStopPost=-/usr/bin/launchguard witness --systemd
            """
    )

    @Argument(help: "The state directory, with the folder of the role if the program has one.", completion: .directory)
    var directory: String?

    @Argument(help: "The number of the process.")
    var pid: Int32?

    @Argument(help: "How it ended.")
    var status: String?

    @Flag(help: "Take the status and the process from the environment that systemd gives to ExecStopPost=.")
    var systemd = false

    func validate() throws {
        if systemd {
            guard pid == nil else { throw ValidationError("--systemd finds process and status itself.") }
            return
        }
        guard directory != nil, let pid, let status else { throw ValidationError("witness needs DIR PID STATUS, or --systemd.") }
        guard pid > 0 else { throw ValidationError("\(pid) is no number of a process.") }
        guard WaitStatus.parse(status, exitMark: nil) != nil else {
            throw ValidationError("\(status) is no status: give $?, exit:NUMBER, signal:NAME or wait:STATUS.")
        }
    }

    func run() throws {
        let directory = try Target(self.directory).stateDirectory(for: "witness")
        let (process, status) = try end(in: directory)
        do throws(LaunchGuardError) {
            try Session.witness(status.rawValue, of: process, stateDirectory: directory.path)
        } catch {
            let words: String? =
                switch error.code {
                case .notFound: "no run of process \(process) is recorded here"
                case .state: "process \(process) is alive; wait for its end first"
                case .already: "process \(process) has a witness already, or the program was started again before this"
                default: nil
                }
            throw CallFailure.exitCode(directory, error, words)
        }
    }

    private func end(in directory: StateDirectory) throws -> (process: Int32, status: WaitStatus) {
        if let pid, let text = status, let status = WaitStatus.parse(text, exitMark: exitMark(of: pid, in: directory)) {
            return (pid, status)
        }
        do {
            let end = try SystemdEnd()
            guard let process = try end.process(in: directory) else {
                Output.complain("\(directory.path): no run of invocation \(end.invocation) has ended without a witness")
                throw ExitStatus.nothingFound.code
            }
            return (process, end.status)
        } catch let absence as SystemdEnd.Absence {
            Output.complain(absence.message)
            throw ExitStatus.nothingFound.code
        }
    }

    /// The status that the newest run of a process itself gave to `exit()`; nil: none.
    private func exitMark(of pid: Int32, in directory: StateDirectory) -> Int32? {
        let runs = ((try? directory.runPaths()) ?? []).reversed().lazy.compactMap { try? Reader(path: $0).summary() }
        guard let verdict = runs.first(where: { $0.identity?.processID == pid })?.verdict else { return nil }
        return verdict.evidenceKind == .exitMark ? verdict.exitCode : nil
    }
}
