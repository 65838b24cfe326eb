#if ServiceLifecycle
public import LaunchGuard
public import ServiceLifecycle

/// A member of a service group that reports the state of the group to LaunchGuard.
///
/// ```swift
/// let session = try LaunchGuard.start(appID: "org.example.server")
/// let launch = session.launch("main")
/// try await launch.begin()
/// let group = ServiceGroup(
///     services: [
///         database, server,
///         LaunchGuardService(session, launch) { try await server.waitUntilItListens() },
///     ],
///     gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// - The launch is finished when the closure returns. The program chooses the condition: until then
///   a crash, also of another service, is a launch crash. Without a closure the window of the
///   launch decides, as always.
/// - The service announces a graceful shutdown by `session.willTerminate()`. The announcement is
///   needed because the group takes the signals for itself, so that LaunchGuard does not see them.
///   With the announcement, a program that its supervisor kills for a slow shutdown was terminated
///   and did not vanish. Make this service the *last* one of the group: a group shuts down its last
///   service first, and the announcement should come before any other end.
/// - While the service runs, it watches the concurrency pool: a thread has a heartbeat as long as
///   the pool serves its tasks. A pool that is blocked for longer than the thresholds for hangs
///   counts as hanging.
/// - Nothing is left to do after `group.run()`: a program that returns from `main`, or calls
///   `exit()`, leaves its mark. An error that is thrown there is an exit with its status.
public struct LaunchGuardService: Service, CustomStringConvertible {
    private let session: LaunchGuard.Session
    private let launch: LaunchGuard.Launch?
    private let ready: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - session: of the process.
    ///   - launch: a launch that begins before the group runs; nil: no launch is finished.
    ///   - ready: returns when the group has started. The task of the closure is cancelled when the
    ///     group shuts down before that. An error of the closure ends the service, as for any
    ///     service.
    public init(_ session: LaunchGuard.Session, _ launch: LaunchGuard.Launch? = nil, ready: (@Sendable () async throws -> Void)? = nil) {
        self.session = session
        self.launch = launch
        self.ready = ready
    }

    public var description: String { "LaunchGuard" }

    public func run() async throws {
        let watch = session.watchPool()
        defer { watch.end() }
        try await withGracefulShutdownHandler {
            if let ready {
                do {
                    try await cancelWhenGracefulShutdown { try await ready() }
                    if !Task.isShuttingDownGracefully { launch?.finished() }
                } catch is CancellationError where Task.isShuttingDownGracefully {
                    return
                }
            }
            try await gracefulShutdown()
        } onGracefulShutdown: {
            session.willTerminate()
        }
    }
}
#endif
