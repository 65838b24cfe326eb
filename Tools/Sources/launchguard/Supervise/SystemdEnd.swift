import LaunchGuardReportModel

/// The end of a service's main process, as systemd passes it to `ExecStopPost=`.
struct SystemdEnd {
    let status: WaitStatus
    let invocation: String

    /// Why the environment does not say how a process ended.
    struct Absence: Error {
        let message: String
    }

    init() throws(Absence) {
        guard let code = Output.variable("EXIT_CODE"), let text = Output.variable("EXIT_STATUS") else {
            throw Absence(
                message: Output.variable("SERVICE_RESULT") == nil
                    ? "EXIT_CODE and EXIT_STATUS are not set: use --systemd in ExecStopPost= of a service"
                    : "EXIT_CODE and EXIT_STATUS are not set: the service had no main process")
        }
        guard let status = WaitStatus.systemd(code: code, status: text) else {
            throw Absence(message: "EXIT_CODE=\(code) and EXIT_STATUS=\(text) are not the end of a process")
        }
        guard let invocation = Output.variable("INVOCATION_ID"), !invocation.isEmpty else {
            throw Absence(message: "INVOCATION_ID is not set, by which the run is found")
        }
        self.status = status
        self.invocation = invocation
    }

    /// The process of the newest run that this invocation of the service left behind and nobody has
    /// witnessed; nil: there is none. Its number is no longer in `$MAINPID`, since systemd forgets
    /// it when the process has ended.
    func process(in directory: StateDirectory) throws(ReportError) -> Int32? {
        for path in try directory.runPaths().reversed() {
            guard let run = try? Reader(path: path).summary(), let identity = run.identity else { continue }
            guard !identity.isAlive, !identity.isSecondary, run.system?.invocationID == invocation else { continue }
            // Another witness was quicker: an agent, or `launchguard run`. Older runs are of
            // others.
            guard identity.witness == nil else { return nil }
            // The file has another status of exit(): the run is that of a process of ExecStartPre=.
            if run.verdict?.evidenceKind == .exitMark, run.verdict?.exitCode != status.exitCode { continue }
            return identity.processID
        }
        return nil
    }
}
