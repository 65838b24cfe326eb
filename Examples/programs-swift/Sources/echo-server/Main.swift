import Glibc
import LaunchGuard
import LaunchGuardLogging
import LaunchGuardService
import Logging
import ServiceLifecycle

/// echo-server STATE GREETINGS [PORT]: answers each line with a greeting and the line. A file of
/// greetings that crashes the start twice is put aside, and the server starts without it.
@main
struct Main {
    static func main() async throws {
        guard CommandLine.arguments.count >= 3 else { fatalError("usage: echo-server STATE GREETINGS [PORT]") }
        let greetings = Greetings(path: CommandLine.arguments[2])
        let server = EchoServer(port: CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 0 : 0, greetings: greetings)

        // First of all, so that a crash of all the rest leaves a record.
        var configuration = Session.Configuration(appID: "org.example.echo", version: "1.0")
        configuration.stateDirectory = CommandLine.arguments[1]
        configuration.onLog = LaunchGuardLogHandler.forward()
        let session = try Session.start(configuration)
        LoggingSystem.bootstrap { label in
            MultiplexLogHandler([StreamLogHandler.standardError(label: label), LaunchGuardLogHandler(label: label, session: session)])
        }
        let logger = Logger(label: "echo")

        // The launch is finished when the server listens, and not before.
        let launch = session.launch("main", .init(window: .zero, finish: .mark, onReport: { batch in
            logger.error("launches crashed", metadata: ["count": "\(batch.streak)", "last": "\(batch.reports.last?.path ?? "unknown")"])
        }))
        launch.addRepair("put greetings aside", impact: 10) { try greetings.putAside() }
        launch.addTask("load greetings", options: .essential) { try await greetings.load() }
        if let problem = await launch.begin().problem {
            logger.error("not launched: \(problem)")
            exit(1)
        }

        let group = ServiceGroup(
            services: [server, LaunchGuardService(launch, whenReady: { try await server.waitUntilItListens() })],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }
}
