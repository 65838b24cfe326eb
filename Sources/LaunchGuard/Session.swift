import Synchronization

/// The session of this process, from ``start(_:)``.
///
/// A process has one session. The session works until the process ends, whether or not the program
/// keeps the object. Any thread may call every member.
public final class Session: Sendable {
    /// The problem of the environment; `nil` without one.
    public let problem: LaunchGuardError?

    let core: CoreSession
    let launches = Mutex(Launches())
    let isMainActorWatched = Atomic(false)
    let deliveredReports = DeliveryBroadcast()
    /// Of the guards, however often they start.
    let guardsEnd = Mutex<(@Sendable () -> Void)?>(nil)
    let memoryProblem = Mutex<LaunchGuardError?>(nil)

    init(core: CoreSession, problem: LaunchGuardError?) {
        self.core = core
        self.problem = problem
    }

    /// The protection that the session can give.
    public var protection: Protection { core.protection }

    /// Path of this run's file; `nil` for a session without files.
    public var runPath: String? { core.runPath }

    /// Path of the state directory, with the role's folder; `nil` for a session without files.
    public var stateDirectory: String? { core.stateDirectory }

    /// Read the table of loaded modules again. Call it after loading or unloading a library, so
    /// that crashes in its code have a complete stack.
    public func refreshModules() { core.refreshModules() }

    /// Announce the end of the program, by its own decision or on request. Launches that are under
    /// way are over, and later events do not count against them. The call is not needed for a
    /// signal that asks the program to end (SIGTERM, SIGINT, SIGHUP), unless the program has its
    /// own handler for the signal: LaunchGuard notes the signal itself. An end while a repair runs
    /// interrupts the repair all the same.
    public func announceTermination() { core.announceTermination() }

    /// Announce an intended restart of the program, by itself or by its supervisor. Otherwise as
    /// ``announceTermination()``. The last of several announcements counts.
    public func announceRestart() { core.announceRestart() }

    /// Say that the program has crashed, for a component that sees crashes which leave no crash
    /// record, such as a scripting runtime. The run ends by a crash that counts, whatever comes
    /// later. A crash record of LaunchGuard's own says more, and wins. A signal handler, in which
    /// Swift does not run, calls `lg_crash_note()` of C.
    ///
    /// - Parameter type: what `launchguard inspect` calls the crash, cut to 47 bytes and at its
    ///   first NUL.
    /// - Returns: whether this crash is noted: the session has files, and it is the first one.
    @discardableResult
    public func noteCrash(_ type: String) -> Bool { core.noteCrash(type) }

    /// Mark the run as cleanly ended and remove the handlers. The call is not needed before the
    /// program exits by itself: a return from `main` and `exit` mark the end as well.
    public func stop() {
        guard core.stop() else { return }
        Self.running.withLock { if $0 === self { $0 = nil } }
        for launch in preparedLaunches { launch.hooks.stop(launch.core) }
        deliveredReports.finish()
        guardsEnd.withLock({ $0.take() })?()
    }
}
