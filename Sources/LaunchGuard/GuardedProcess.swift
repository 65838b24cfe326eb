/// The process as LaunchGuardService sees it, by its session or by one of its launches.
package protocol GuardedProcess: Sendable {
    /// As ``Session/watchTaskPool()``.
    func watchTaskPool()

    /// As ``Session/announceTermination()``.
    func announceTermination()
}

extension Session: GuardedProcess {}

extension Launch: GuardedProcess {
    package func watchTaskPool() { hooks.session.watchTaskPool() }

    package func announceTermination() { hooks.session.announceTermination() }
}
