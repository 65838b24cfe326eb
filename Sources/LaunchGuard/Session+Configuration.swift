extension Session {
    /// Configuration of a session: ``Session/start(_:)``.
    public struct Configuration: Sendable {
        /// Reverse-DNS name of the application: 1 to 63 letters, digits, '.', '-' and '_'.
        public var appID: String
        /// Version of the application, at most 63 bytes. A version that has not crashed before at
        /// the next start counts as an upgrade and resets all counters.
        public var version: String
        /// Directory of the ledger and the run files; `nil` for `$STATE_DIRECTORY`, else
        /// `$XDG_STATE_HOME/<appID>`, else `$HOME/.local/state/<appID>`.
        public var stateDirectory: String? = nil
        /// Role of a process that has launches of its own beside the primary process of the
        /// application, for example "worker"; `nil` for the primary process. The files of a role
        /// are in the folder of that name in the state directory. 1 to 63 letters, digits, '.', '-'
        /// and '_'; neither "runs" nor a name that begins with "ledger.lg".
        public var role: String? = nil
        /// Size of the ring log, 4096 to 16777216.
        public var ringBytes = 262_144
        /// Longest time for writing the crash record, 100 ms to 60 s.
        public var deadline: Duration = .seconds(3)
        /// Longest time that a crash handler installed before the start may take, such as that of
        /// the Swift runtime, 100 ms to 1 h.
        public var handlerDeadline: Duration = .seconds(30)
        /// Whether a fault that repeats without progress does not end the process. Such a fault
        /// comes again at once at the same place, because the handler that was installed before the
        /// start returned and changed nothing. It ends the process by its signal after
        /// ``deadline``. No launch is finished by time meanwhile, also with `true`.
        public var keepsRepeats = false
        /// Longest time between two heartbeats of a run loop before the program counts as hanging.
        public var hangThresholds = HangThresholds()
        /// Number of ended run files that are kept, at least 1. Clean ones give way first.
        public var keepRuns = 32
        /// Space on the disk that ended run files take together, at least 1.
        public var keepBytes = 64 << 20
        /// Contents of a crash record besides the crashed thread.
        public var record = RecordOptions()
        /// Called with each breadcrumb that LaunchGuard itself writes into the ring log (level,
        /// category "launchguard", text), with the problem of the start, and with the end of the
        /// last run unless that end was clean. The calls come one after the other, in the middle of
        /// the program's calls of LaunchGuard or on threads of LaunchGuard. The closure may make
        /// any call of LaunchGuard; the program must not hold a lock in such a call that the
        /// closure takes. `LaunchGuardLogHandler.forward(to:)` makes one for swift-log.
        public var onLog: (@Sendable (_ level: LogLevel, _ category: String, _ text: String) -> Void)? = nil

        /// The configuration of a program, with the defaults below.
        public init(appID: String, version: String = "") {
            self.appID = appID
            self.version = version
        }
    }
}
