// A server with swift-log and ServiceLifecycle: LaunchGuard is a backend more, and a service more.
import Glibc
import LaunchGuard
import LaunchGuardLogging
import LaunchGuardService
import Logging
import ServiceLifecycle

// LaunchGuard's own messages, for example the end of the last run, go to swift-log.
var configuration = Session.Configuration(appID: "org.example.served")
configuration.onLog = LaunchGuardLogHandler.forward()
let session = try Session.start(configuration)
// Standard error as without bootstrap, and breadcrumbs. Label: category, metadata: fields.
LoggingSystem.bootstrap { label in
    MultiplexLogHandler([StreamLogHandler.standardError(label: label), LaunchGuardLogHandler(label: label, session: session)])
}

struct Server: Service {
    let logger = Logger(label: "server")

    func run() async throws {
        logger.info("listening", metadata: ["port": "8080"])
        try await gracefulShutdown()
    }

    func waitUntilItListens() async throws {}
}

let launch = session.launch("main")
if let problem = await launch.begin().problem {
    Logger(label: "main").error("not launched: \(problem)")
    exit(1)  // No crash, and the supervisor starts the server again.
}
let server = Server()
let group = ServiceGroup(
    // LaunchGuardService comes last, so that it is the first to be asked to shut down.
    services: [server, LaunchGuardService(launch, whenReady: { try await server.waitUntilItListens() })],
    gracefulShutdownSignals: [.sigterm], logger: server.logger)
try await group.run()
