#if ServiceLifecycle
public import LaunchGuard
public import ServiceLifecycle

/// A member of a service group that reports the state of the group to LaunchGuard.
///
/// ```swift
/// let session = try Session.start(appID: "org.example.server")
/// let launch = session.launch("main")
/// if let problem = await launch.begin().problem {
///     logger.error("\(problem)")
///     exit(1)
/// }
/// let group = ServiceGroup(
///     services: [
///         database, server,
///         LaunchGuardService(launch, whenReady: { try await server.waitUntilItListens() }),
///     ],
///     gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// - The launch is finished when the closure returns. The program chooses the condition: until then
///   a crash, also of another service, is a launch crash. Without a closure the window of the
///   launch decides, as always.
/// - The service announces a graceful shutdown by `session.announceTermination()`. The announcement
///   is needed because the group takes the signals for itself, so that LaunchGuard does not see
///   them. With the announcement, a program that its supervisor kills for a slow shutdown was
///   terminated and did not vanish. Make this service the *last* one of the group: a group shuts
///   down its last service first, and the announcement should come before any other end.
/// - From its initialiser on the concurrency pool is watched, by `session.watchTaskPool()`: a pool
///   that is blocked for longer than the thresholds for hangs counts as hanging, also before the
///   group runs.
/// - Nothing is left to do after `group.run()`: a program that returns from `main`, or calls
///   `exit()`, leaves its mark. An error that is thrown there is an exit with its status.
public struct LaunchGuardService: Service, CustomStringConvertible {
    private let process: any GuardedProcess
    private let launch: Launch?
    private let whenReady: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - launch: begins before the group runs.
    ///   - whenReady: returns when the group has started. The task of the closure is cancelled when
    ///     the group shuts down before that. An error of the closure ends the service, as for any
    ///     service. `nil`: the window of the launch decides.
    public init(_ launch: Launch, whenReady: (@Sendable () async throws -> Void)? = nil) {
        process = launch
        self.launch = launch
        self.whenReady = whenReady
        process.watchTaskPool()
    }

    /// For a program without a launch: announces the shutdown and watches the concurrency pool.
    public init(_ session: Session) {
        process = session
        launch = nil
        whenReady = nil
        process.watchTaskPool()
    }

    /// The name of the service in the log of the group.
    public var description: String { "LaunchGuard" }

    /// Run until the group shuts down. The group calls it.
    public func run() async throws {
        try await withGracefulShutdownHandler {
            if let whenReady {
                do {
                    try await cancelWhenGracefulShutdown { try await whenReady() }
                    if !Task.isShuttingDownGracefully { launch?.finish() }
                } catch is CancellationError where Task.isShuttingDownGracefully {
                    return
                }
            }
            try await gracefulShutdown()
        } onGracefulShutdown: {
            process.announceTermination()
        }
    }
}
#endif
