import Synchronization

extension Session {
    static let running = Mutex<Session?>(nil)

    /// The session of this process, for a library that leaves a breadcrumb and was handed none:
    /// `Session.current?.log(.info, "cache opened")`. `nil` before ``start(_:)`` and after
    /// ``stop()``.
    public static var current: Session? { running.withLock(\.self) }

    /// Start the session of this process: map the files, find out how the last run ended, install
    /// the crash handlers.
    ///
    /// Call it once, first in the program. The call never blocks the launch. It throws only for a
    /// mistake in the call itself, which the developer sees at the first start. A problem of the
    /// *environment* (no directory, a full disk, a damaged ledger, another live process that holds
    /// the ledger) does not keep the program from starting: ``protection`` is the protection that
    /// is left, and ``problem`` is the problem.
    ///
    /// ```swift
    /// var configuration = Session.Configuration(appID: "org.example.player", version: "1.4.2")
    /// configuration.hangThresholds.running = .seconds(3)
    /// configuration.record.keepsStandardError = true
    /// let session = try Session.start(configuration)
    /// ```
    ///
    /// - Throws: ``LaunchGuardError`` with the code ``LaunchGuardError/Code/argument`` or
    ///   ``LaunchGuardError/Code/option`` for a value that makes no sense,
    ///   ``LaunchGuardError/Code/already`` when a session runs in this process, and
    ///   ``LaunchGuardError/Code/forked`` in the forked child of a process with a session.
    public static func start(_ configuration: Configuration) throws(LaunchGuardError) -> Session {
        let (core, problem) = CoreSession.start(try StartOptions(configuration), configuration.onLog)
        if let problem, [.argument, .option, .already, .forked].contains(problem.code) { throw problem }
        let session = Session(core: core, problem: problem)
        running.withLock { $0 = session }
        return session
    }

    /// Start the session of this process with the usual configuration: ``start(_:)``.
    ///
    /// - Parameters:
    ///   - appID: ``Configuration/appID``.
    ///   - version: ``Configuration/version``.
    ///   - stateDirectory: ``Configuration/stateDirectory``.
    public static func start(
        appID: String, version: String = "", stateDirectory: String? = nil
    ) throws(LaunchGuardError) -> Session {
        var configuration = Configuration(appID: appID, version: version)
        configuration.stateDirectory = stateDirectory
        return try start(configuration)
    }

    /// Version of the library in use, for example "0.1.0".
    public static var libraryVersion: String { Core.version }
}
