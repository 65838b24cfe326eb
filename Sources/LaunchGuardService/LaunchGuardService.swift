#if ServiceLifecycle
public import LaunchGuard
public import ServiceLifecycle

/// A member of a service group that tells LaunchGuard how the group is doing.
///
/// ```swift
/// let session = try LaunchGuard.start(appID: "org.example.server")
/// let launch = session.launch("main")
/// try await launch.begin()
/// let group = ServiceGroup(
///     services: [database, server, LaunchGuardService(session, launch) { try await server.waitUntilItListens() }],
///     gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// ```
///
/// - The launch is finished when the closure returns. What it waits for is the program's choice: a crash, also one of another service, is one of the launch until then.
///   Without a closure the window of the launch decides, as always.
/// - Graceful shutdown is announced as `session.willTerminate()`. A group takes the signals for itself, so LaunchGuard would not see them; a program that its supervisor kills
///   because it shuts down too slowly has then been terminated, and has not vanished. Make it the *last* service: a group shuts down the last one first, and the announcement
///   should come before anything else ends.
/// - While it runs the concurrency pool is watched: a thread has a heartbeat as long as the pool gets round to its tasks. Blocked for longer than the thresholds for hangs
///   it counts as hanging.
/// - There is nothing to do behind `group.run()`: a program that returns from `main`, or calls `exit()`, leaves its mark. An error that is thrown there is an exit with its status.
public struct LaunchGuardService: Service, CustomStringConvertible {
    private let session: LaunchGuard.Session
    private let launch: LaunchGuard.Launch?
    private let ready: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - session: of the process.
    ///   - launch: that begins before the group runs; nil: no launch is finished.
    ///   - ready: returns when the group has started; it is cancelled when the group shuts down before that. What it throws ends the service, as for any service.
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
