#if os(Linux)
import LaunchGuardReports

/// The program that sends reports.
enum AgentCheck {
    static func findings(stateDirectory path: String?) -> [Finding] {
        guard AgentProgram.path(chosen: nil) == nil else { return [] }
        let isWanted = path.flatMap { FileFacts($0 + "/spool") }?.isFolder == true
        return [
            Finding(
                isWanted ? .warning : .note, "agent.missing",
                "launchguard-agent was not found" + (isWanted ? ", and the program wants its reports sent: they stay owed" : "; only a program that sends reports needs it"),
                "install it, or name it in LAUNCHGUARD_AGENT")
        ]
    }
}
#endif
