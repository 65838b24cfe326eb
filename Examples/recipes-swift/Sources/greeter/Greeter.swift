import Glibc
import Hummingbird
import LaunchGuard
import LaunchGuardService
import Logging
import ServiceLifecycle

/// greeter STATE: a server of Hummingbird on a port of the loopback address.
@main
struct Greeter {
    static func main() async throws {
        // First of all, so that a crash of all the rest leaves a record.
        let session = try Session.start(appID: "org.example.greeter", version: "1.0", stateDirectory: CommandLine.arguments[1])
        let launch = session.launch("main", .init(window: .zero, finish: .mark))
        let logger = Logger(label: "greeter")
        if let problem = await launch.begin().problem {
            logger.error("not launched: \(problem)")
            exit(1)
        }

        let names = ["Ada", "Grace"]
        let router = Router()
        router.get("hello/:number") { _, context in
            let number = try context.parameters.require("number", as: Int.self)
            return "Hello, \(names[number])"  // The bug of this program.
        }
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { _ in launch.finish() },  // It listens: the launch is finished.
            logger: logger)

        // A group of its own, and not runService(): LaunchGuard's service is the last one.
        let group = ServiceGroup(
            services: [server, LaunchGuardService(launch)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }
}
