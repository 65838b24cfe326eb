import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

/// `launchguard upload`
struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Send the reports of a state directory now, and show what becomes of each.",
        discussion: """
            An agent that lives is asked to try at once. Only a server that asked for a pause is left in peace until then. Without one the tool runs \
            launchguard-agent --once: the program of --agent, else of $LAUNCHGUARD_AGENT, else the one beside the tool, else in \
            ../libexec/launchguard from there, /usr/local/libexec/launchguard or /usr/libexec/launchguard.

            A line is printed for each report whose state has changed, and at the end for each that was not sent.

            EXIT STATUS
              0  all reports are sent, or there was nothing to send
              1  there is no spool, or it may not be read or written
              2  the command line is wrong
              4  reports are left: not sent in time, held or dead
              5  nothing can be sent: no consent, no configuration, switched off, no agent, or the agent failed

            EXAMPLES
              launchguard upload
              launchguard upload --all /var/lib/notes
              launchguard upload --timeout 10 /var/lib/notes
              launchguard upload --json /var/lib/notes | jq 'select(.state != "sent") | .error'
            """
    )

    @Argument(help: "The state directory. Default: $STATE_DIRECTORY, or the current directory.", completion: .directory)
    var directory: String?

    @Flag(help: "Also send what is held or was given up.")
    var all = false

    @Option(help: ArgumentHelp("The longest time for all of it.", valueName: "seconds"))
    var timeout = 60

    @OptionGroup var agent: AgentOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...86400).contains(timeout) else { throw ValidationError("--timeout needs a number from 1 to 86400.") }
    }

    func run() async throws {
        guard self.directory.flatMap(Tarball.path) == nil else { throw ValidationError("upload needs a state directory; a tarball is only read.") }
        let directory = try Target(self.directory).stateDirectory(for: "upload")
        guard let spool = try Spool(directory) else {
            Output.complain("\(directory.spoolPath): there is no spool; the program makes it with lg_delivery_start()")
            throw ExitStatus.nothingFound.code
        }
        guard spool.userID == geteuid() else {
            Output.complain("\(spool.path): it belongs to user \(spool.userID); run this as that user")
            throw ExitStatus.nothingFound.code
        }
        if let obstacle = spool.obstacle { throw refusal(obstacle) }
        var progress = UploadProgress(try directory.deliveries(), isJSON: output.json)
        try await send(directory, &progress)
        try (progress.finish() ? ExitStatus.success : .unsent).end()
    }

    /// Until nothing is pending, no agent can do more, or the time is over.
    private func send(_ directory: StateDirectory, _ progress: inout UploadProgress) async throws {
        let deadline = ContinuousClock.now + .seconds(timeout)
        guard Nudge(directory).write(all ? "all" : "tool") else {
            Output.complain("\(directory.spoolPath)/nudge: it cannot be written: \(unsafe String(cString: strerror(errno)))")
            throw ExitStatus.nothingFound.code
        }
        // A living agent may end at any time, and another one begin.
        while ContinuousClock.now < deadline {
            if Spool.agentLives(in: directory) {
                if try await watch(directory, &progress) { return }
            } else {
                try await runAgent(directory, until: deadline, &progress)
                if !Spool.agentLives(in: directory) { return }
            }
        }
    }

    /// One look while another agent lives; whether nothing is left for it.
    private func watch(_ directory: StateDirectory, _ progress: inout UploadProgress) async throws -> Bool {
        // The agent takes the nudge, then makes the reports that are owed.
        let isTaken = try !Nudge(directory).isThere
        try await Task.sleep(for: Self.pause)
        progress.update(try directory.deliveries())
        return isTaken && !progress.isPending
    }

    private func runAgent(_ directory: StateDirectory, until deadline: ContinuousClock.Instant, _ progress: inout UploadProgress) async throws {
        guard let program = agent.program else { throw refusal(agent.whyMissing) }
        guard var process = AgentProgram(program, directory) else { throw refusal("\(program): it cannot be started") }
        while process.isRunning {
            if ContinuousClock.now >= deadline { process.stop() }
            progress.update(try directory.deliveries())
            try await Task.sleep(for: Self.pause)
        }
        progress.update(try directory.deliveries())
        if process.hasSaidWhy { throw ExitStatus.cannotSend.code }
        if process.hasFailed { throw refusal("\(program): it failed; \(directory.spoolPath)/agent.log says more") }
    }

    private static let pause = Duration.milliseconds(50)

    private func refusal(_ why: String) -> ExitCode {
        Output.complain(why)
        return ExitStatus.cannotSend.code
    }
}
