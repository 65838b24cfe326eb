import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

/// Options of a command that runs the agent.
struct AgentOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The agent's program. Default: $LAUNCHGUARD_AGENT, or launchguard-agent beside this tool or in its libexec folder.", valueName: "path"), completion: .file())
    var agent: String?

    /// Nil: there is none.
    var program: String? { AgentProgram.path(chosen: agent) }

    var whyMissing: String {
        agent.map { "\($0): there is no such program, or it may not be run" } ?? "launchguard-agent was not found; install it, or name it with --agent"
    }
}

/// `launchguard-agent`, run once.
struct AgentProgram {
    private let process: ChildProcess
    private var status: Int32?
    private var isStopped = false

    /// The program that was chosen, else the one in its usual place; nil: there is none.
    static func path(chosen: String?) -> String? {
        guard let path = chosen ?? Output.variable("LAUNCHGUARD_AGENT") else { return ProgramBeside.path("launchguard-agent") }
        // The tool works elsewhere once it has unpacked a tarball.
        return ProgramBeside.isProgram(Tarball.fromStart(path)) ? Tarball.fromStart(path) : nil
    }

    /// Starts the agent; nil: that is not possible.
    init?(_ program: String, _ directory: StateDirectory) {
        let arguments = ["--state", directory.path, "--once", "--via", "tool"]
        guard let process = ChildProcess(program, arguments, errors: Output.Stream.error.rawValue) else { return nil }
        self.process = process
    }

    /// Asked again and again until it is false.
    var isRunning: Bool {
        mutating get {
            if status == nil { status = process.waitStatus }
            return status == nil
        }
    }

    /// Ends the agent at once: its state is on the disk, and another agent continues there.
    mutating func stop() {
        isStopped = true
        process.stop()
    }

    /// Whether the agent could not begin, and has said why: it has no log then.
    var hasSaidWhy: Bool {
        [3, 8, 9].contains { status == $0 << 8 }
    }

    /// Whether the agent ended by itself, and not because it could do no more.
    var hasFailed: Bool {
        !isStopped && status != 0 && status != 6 << 8
    }
}
