#if os(Linux)
import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

/// `launchguard doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Name everything on this system that would weaken the records of a program, each with its remedy.",
        discussion: """
            Looks at DIR, the state directory (by default the first part of $STATE_DIRECTORY, if that is set): existence, owner, mode, links, space, inodes and \
            file system. At the system: limits, core pattern, seccomp, process 1, the agent. At PROGRAM, searched in $PATH as a \
            shell would: whether it can be run, preloaded, unwound and symbolised, and which of its libraries install signal \
            handlers. Limits and seccomp are those of this command: run it as the program is run, for example in its unit or container. \
            PROGRAM is not run, and nothing is changed.

            EXIT STATUS
              0  nothing, or notes only: no promise is weaker
              2  the command line is wrong
              7  warnings: some records will lack something
              8  errors: nothing will be recorded, or nothing counted

            EXAMPLES
              launchguard doctor /var/lib/notes
              launchguard doctor /var/lib/notes -- notes --port 80
              launchguard doctor --json -- /usr/sbin/nginx | jq -r .code
            """
    )

    @Argument(help: "The state directory. It need not be there yet.", completion: .directory)
    var directory: String?

    @Argument(parsing: .postTerminator, help: "A program, and its arguments, which are not used.")
    var program: [String] = []

    @OptionGroup var output: OutputOptions

    func run() throws {
        let path = directory ?? Output.variable("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        var findings: [Finding] = []
        if let path, !path.isEmpty {
            findings += DirectoryCheck.findings(path) + SpaceCheck.findings(path)
        }
        findings += LimitCheck.findings() + SystemCheck.findings() + ReaperCheck.findings() + AgentCheck.findings(stateDirectory: path)
        if let name = program.first { findings += ProgramCheck.findings(name) }
        findings.sort { $0.severity > $1.severity }
        show(findings)
        switch findings.first?.severity {
        case .error: try ExitStatus.broken.end()
        case .warning: try ExitStatus.weakened.end()
        case .note, nil: break
        }
    }

    private func show(_ findings: [Finding]) {
        if output.json { return Output.writeLines(json: findings) }
        var writer = Output.makeWriter()
        for finding in findings { finding.write(to: &writer) }
        if findings.isEmpty { writer.line("nothing was found that would weaken a record") }
        Output.write(writer.bytes)
    }
}
#endif
