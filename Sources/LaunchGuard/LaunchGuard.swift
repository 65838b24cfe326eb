/// A program on Linux must not die silently and must not get stuck in a crash loop.
///
/// ```swift
/// let session = try LaunchGuard.start(appID: "org.example.player", version: "1.4.2")
/// let launch = session.launch("main", reportAfter: 1, repairAfter: 2, window: .seconds(5))
/// launch.onReport { count, reports in … }
/// launch.addRepair("clear cache", impact: 10) { try await cache.removeAll() }
/// launch.addTask("open database") { try database.open() }
/// try await launch.begin()
/// launch.finished()
/// ```
///
/// Everything here is a thin shell over the C module `CLaunchGuard`; each declaration names the C
/// function behind it, whose documentation goes into more detail. No Swift code runs while the
/// process is dying.
public enum LaunchGuard {
    /// Version of the library in use, for example "0.1.0". C: `lg_version()`.
    public static var version: String { Core.version }

    /// Start the session of this process: map the files, find out how the last run ended, install
    /// the crash handlers.
    ///
    /// Call it once, first in the program. The call never blocks the launch. It throws only for a
    /// mistake in the call itself, which the developer sees at the first start. A problem of the
    /// *environment* (no directory, a full disk, a damaged ledger, another live process that holds
    /// the ledger) does not keep the program from starting: ``Session/protection`` is the
    /// protection that is left, and ``Session/problem`` is the problem.
    ///
    /// C: `lg_start()`.
    ///
    /// - Parameters:
    ///   - appID: reverse-DNS name of the application: 1 to 63 letters, digits, '.', '-' and '_'.
    ///   - version: of the application, at most 63 bytes. A different version at the next start
    ///     counts as an upgrade and resets all counters.
    ///   - stateDirectory: directory of the files; `nil` for `$STATE_DIRECTORY`, else
    ///     `$XDG_STATE_HOME/<appID>`, else `$HOME/.local/state/<appID>`.
    ///   - role: role of a process that has launches of its own beside the primary process of the
    ///     application, for example "worker". Its files are in the folder of that name in the state
    ///     directory. 1 to 63 letters, digits, '.', '-' and '_'; neither "runs" nor a name that
    ///     begins with "ledger.lg".
    ///   - ringBytes: size of the ring log, 4096 to 16777216; `nil` for 262144.
    ///   - deadline: longest time for writing a crash record, 100 ms to 60 s; `nil` for 3 s.
    ///   - handlerDeadline: longest time that a crash handler from before the start may take, such
    ///     as that of the Swift runtime, 100 ms to 1 h; `nil` for 30 s.
    ///   - hangThresholds: longest time between two heartbeats of a run loop before the program
    ///     counts as hanging; by default 2 s while a launch is under way, and 5 s at any other
    ///     time.
    ///   - keepRuns: number of ended run files that are kept; `nil` for 32.
    ///   - keepBytes: total size of ended run files that are kept; `nil` for 64 MiB.
    ///   - record: contents of a crash record besides the crashed thread.
    ///   - onLog: called with what LaunchGuard decides and does (level, category "launchguard",
    ///     text): its own breadcrumbs, the problem of the start, and how the last run ended where
    ///     that was no clean end. The calls come one after the other, in the middle of the
    ///     program's calls of LaunchGuard or on threads of LaunchGuard. The closure may make any
    ///     call of LaunchGuard; the program must not hold a lock in such a call that the closure
    ///     takes. `LaunchGuardLogHandler.forward(to:)` makes one for swift-log. C:
    ///     `lg_options.on_log`.
    /// - Throws: ``LaunchGuardError`` with the code ``LaunchGuardError/Code/argument`` or
    ///   ``LaunchGuardError/Code/option`` for a value that makes no sense,
    ///   ``LaunchGuardError/Code/already`` when a session runs in this process, and
    ///   ``LaunchGuardError/Code/forked`` in the forked child of a process with a session.
    public static func start(
        appID: String,
        version: String = "",
        stateDirectory: String? = nil,
        role: String? = nil,
        ringBytes: Int? = nil,
        deadline: Duration? = nil,
        handlerDeadline: Duration? = nil,
        hangThresholds: HangThresholds = HangThresholds(),
        keepRuns: Int? = nil,
        keepBytes: Int? = nil,
        record: RecordOptions = RecordOptions(),
        onLog: (@Sendable (Level, String, String) -> Void)? = nil
    ) throws(LaunchGuardError) -> Session {
        let options = try StartOptions(
            appID: appID,
            version: version,
            stateDirectory: stateDirectory,
            role: role,
            ringBytes: ringBytes,
            deadline: deadline,
            handlerDeadline: handlerDeadline,
            hangThresholds: hangThresholds,
            keepRuns: keepRuns,
            keepBytes: keepBytes,
            record: record
        )
        let (core, problem) = CoreSession.start(options, onLog)
        if let problem, [.argument, .option, .already, .forked].contains(problem.code) { throw problem }
        return Session(core: core, problem: problem)
    }
}
