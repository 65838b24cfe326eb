/// The process as LaunchGuardService sees it, by its session or by one of its launches.
package protocol GuardedProcess: Sendable {
    /// Give the concurrency pool a heartbeat, until the result is asked to end.
    func watchPool() -> Watch

    /// As ``Session/announceTermination()``.
    func announceTermination()
}

extension Session: GuardedProcess {
    package func watchPool() -> Watch { core.watchPool() }
}

extension Launch: GuardedProcess {
    package func watchPool() -> Watch { hooks.session.watchPool() }

    package func announceTermination() { hooks.session.announceTermination() }
}

extension CoreSession {
    fileprivate func watchPool() -> Watch {
        Watch("task pool", every: .milliseconds(500), beat: { heartbeat() }) { answer in
            Task.detached { answer(.hasNot) }
        }
    }
}
