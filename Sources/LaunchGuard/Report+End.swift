extension Report {
    /// End of a run. The raw value is the word that the tools use. Later versions may have more
    /// cases, so a `switch` needs an `@unknown default`.
    public enum End: String, Sendable, Codable, CaseIterable {
        /// Through `exit`, the end of `main`, or ``Session/stop()``.
        case clean
        /// By SIGTERM, SIGINT or SIGHUP.
        case terminated
        /// By a fault or a deadly signal; its run file holds the record.
        case crash
        /// The program stopped answering.
        case hang
        /// The kernel killed the process to get memory back.
        case oom
        /// By SIGKILL.
        case killed
        /// With an exit status other than 0.
        case exit
        /// The machine was booted again.
        case reboot
        /// Another version of the program starts next, which resets all counters.
        case upgrade
        /// Under a debugger.
        case debugger
        /// The evidence does not decide.
        case unknown
        /// The run has not ended.
        case running
    }
}
