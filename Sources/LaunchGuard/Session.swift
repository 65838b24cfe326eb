import Synchronization

/// The session of this process, from ``start(_:)``.
///
/// A process has one session. The session works until the process ends, whether or not the program
/// keeps the object. Any thread may call every member.
public final class Session: Sendable {
    /// The problem of the environment; `nil` without one.
    public let problem: LaunchGuardError?

    let core: CoreSession
    private let launches = Mutex<[String: Launch]>([:])
    let isMainActorWatched = Atomic(false)
    let deliveredReports = DeliveryBroadcast()
    /// Of the guards, however often they start.
    let guardsEnd = Mutex<(@Sendable () -> Void)?>(nil)
    let memoryProblem = Mutex<LaunchGuardError?>(nil)

    var preparedLaunches: [Launch] { launches.withLock { Array($0.values) } }

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

    /// The launch of one context. LaunchGuard counts nothing before ``Launch/begin()``.
    ///
    /// A value that makes no sense does not stop the program. The result is then an unprotected
    /// launch, whose tasks run and which counts and repairs nothing; its ``Launch/problem`` names
    /// the value. A second call with the same name returns the launch of the first call. Where its
    /// configuration is another one, the result is an unprotected launch whose problem says so, and
    /// the first one stays as it is.
    ///
    /// - Parameter name: of the context, 1 to 63 bytes.
    public func launch(_ name: String, _ configuration: Launch.Configuration = .init()) -> Launch {
        let options: LaunchOptions?
        let mistake: LaunchGuardError?
        do throws(LaunchGuardError) {
            options = try LaunchOptions(name: name, configuration)
            mistake = nil
        } catch {
            options = nil
            mistake = error
        }
        return launches.withLock { launches in
            guard let first = launches[name] else {
                let launch = Launch(name, configuration, options, mistake, of: core)
                launches[name] = launch
                return launch
            }
            guard let difference = first.configuration.difference(to: configuration) else { return first }
            let other = LaunchGuardError(.option, "the session has a launch \"\(name)\" already: \(difference)")
            return Launch(name, configuration, nil, mistake ?? other, of: core)
        }
    }

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
