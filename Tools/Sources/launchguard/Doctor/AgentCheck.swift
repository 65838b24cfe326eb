#if os(Linux)
import LaunchGuardReportModel

/// The program that sends reports.
enum AgentCheck {
    static func findings(stateDirectory path: String?) -> [Finding] {
        if let program = AgentProgram.path(chosen: nil) {
            // One that lacks a library is there, and ends before it begins.
            let child = ChildProcess(program, ["--version"]), answer = child?.wait(atMost: .seconds(5))
            guard answer != true else { return missingHints(program, path) }
            let what = child != nil && answer == nil ? "does not answer" : "cannot run"
            return [
                Finding(
                    .warning, "agent.broken", "\(program) \(what): reports stay owed",
                    "run it with --version, which says why; often libcurl or libjansson is not installed, or the program is for another machine")
            ]
        }
        let isWanted = path.flatMap { FileFacts($0 + "/spool") }?.isFolder == true
        return [
            Finding(
                isWanted ? .warning : .note, "agent.missing",
                "launchguard-agent was not found" + (isWanted ? ", and the program wants its reports sent: they stay owed" : "; only a program that sends reports needs it"),
                "install it, or name it in LAUNCHGUARD_AGENT")
        ]
    }

    /// The program gave the key of its vendor, and the agent cannot check signatures.
    private static func missingHints(_ program: String, _ path: String?) -> [Finding] {
        guard let path, ChildProcess("/bin/grep", ["-q", "^hint_key=.", path + "/spool/config"])?.wait() == true,
            ChildProcess(script: "\"$1\" --version | grep -q 'hint_key has no effect'", [program])?.wait(atMost: .seconds(5)) == true
        else { return [] }
        return [
            Finding(
                .warning, "agent.no-hints", "\(program) was built without OpenSSL: the hint_key of \(path)/spool/config has no effect",
                "install an agent that was built with libssl-dev")
        ]
    }
}
#endif
