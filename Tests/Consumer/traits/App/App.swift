import Glibc
import LaunchGuard
import LaunchGuardLogging
import LaunchGuardMetrics
import LaunchGuardService
import Logging
import MetricsTestKit
import ServiceLifecycle

/// App DIR log: write entries of every kind through swift-log, then die of SIGKILL. App DIR
/// serve|stuck|early|fail: a service group that ends on request; that hangs while it ends; whose
/// launch is not finished; that fails before it is ready. App DIR blocked: the pool is blocked
/// before the group runs. App DIR crash: a launch that crashes. App DIR metrics: one that
/// does not, and what a backend of swift-metrics is shown of it.
@main
enum App {
    static func main() async throws {
        var configuration = Session.Configuration(appID: "org.example.traits")
        configuration.stateDirectory = CommandLine.arguments[1]
        configuration.onLog = LaunchGuardLogHandler.forward()
        let session = try Session.start(configuration)
        guard session.protection == .full else { fatalError("not fully protected: \(String(describing: session.problem))") }
        say(session.runPath ?? "")
        switch CommandLine.arguments[2] {
        case "log": await log(session)
        case "crash":
            _ = await session.launch("main").begin()
            abort()
        case "metrics": try await show(session)
        case let how: try await serve(session, how)
        }
    }

    /// A line for the test that waits for it.
    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    static func log(_ session: Session) async {
        let provider = Logger.MetadataProvider { ["from": "provider", "provided": "1"] }
        LoggingSystem.bootstrap(
            { label, _ in LaunchGuardLogHandler(label: label, session: session, logLevel: .debug) }, metadataProvider: provider)
        signal(SIGILL, SIG_IGN)
        // LaunchGuard warns, and the handler gets the warning from swift-log.
        session.sendHeartbeat()
        var network = Logger(label: "network")
        network[metadataKey: "from"] = "handler"
        network[metadataKey: "kept"] = "2"
        network.info("plain")
        network.info("merged", metadata: ["from": "call"])
        network.debug(
            "nested",
            metadata: [
                "request": ["method": "GET", "header": ["b": "2", "a": "1"]], "list": ["x", ["y", "z"], ["k": "v"]], "number": "\(7)", "convertible": .stringConvertible(1.5),
            ])
        network.trace("below the level")
        for level in Logger.Level.allCases.dropFirst(2) { network.log(level: level, "\(level)") }
        network.error("failed", error: Failure())

        // Loggers are values: a change of one does not change the other.
        var quiet = network
        quiet.logLevel = .critical
        quiet[metadataKey: "quiet"] = "yes"
        quiet.error("not written")
        network.info("still written")
        quiet.critical("written")

        // From many tasks at once.
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { [network] in for number in 0..<20 { network.info("task \(task) \(number)") } }
            }
        }
        kill(getpid(), SIGKILL)
    }

    static func show(_ session: Session) async throws {
        let backend = TestMetrics()
        let metrics = LaunchGuardMetrics(session, factory: backend)
        metrics.update()
        say("\(backend.meters.count) meters before the launch")
        let launch = session.launch("main", .init(repairAfter: 3, finish: .mark))
        if let problem = await launch.begin().problem { throw problem }
        let shows = Task { await metrics.run(every: .milliseconds(1)) }
        while backend.meters(label: "launchguard.streak").first?.lastValue == nil { await Task.yield() }
        say("streak \(Int(backend.meters(label: "launchguard.streak").first?.lastValue ?? -1)), \(backend.timers.count) timers before its end")
        launch.finish()
        while backend.timers.isEmpty { await Task.yield() }
        shows.cancel()
        await shows.value
        metrics.update()
        for meter in backend.meters.sorted(by: { $0.label < $1.label }) { say("\(meter.label) \(meter.dimensions) \(Int(meter.lastValue ?? -1))") }
        for timer in backend.timers { say("\(timer.label) \(timer.dimensions) \(timer.values.count) \((1...60_000_000_000).contains(timer.values[0]))") }
        for counter in backend.counters { say("\(counter.label) \(counter.dimensions) \(counter.totalValue)") }
    }

    struct Failure: Error {}

    static func serve(_ session: Session, _ how: String) async throws {
        let launch = session.launch("main", .init(window: .zero, finish: .mark))
        if let problem = await launch.begin().problem { throw problem }
        var logger = Logger(label: "group", factory: { _ in SwiftLogNoOpLogHandler() })
        logger.logLevel = .critical
        let service = LaunchGuardService(launch) {
            if how == "fail" { throw Failure() }
            if how == "early" {
                say("started")
                try await stay()
            }
        }
        if how == "blocked" { blockThePool() }
        let group = ServiceGroup(
            services: [
                Worker(isStuck: how == "stuck"),
                service,
                Reporter(launch: how == "early" || how == "fail" ? nil : launch),
            ],
            gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
        say("ended")
    }

    /// Gives the pool more tasks that never end than it has threads.
    static func blockThePool() -> Never {
        for _ in 0..<1000 { Task.detached { while true { pause() } } }
        while true { pause() }
    }

    /// Until the task is cancelled.
    static func stay() async throws {
        let (nothing, more) = AsyncStream.makeStream(of: Void.self)
        for await _ in nothing {}
        withExtendedLifetime(more) {}
        try Task.checkCancellation()
    }

    /// Ends on request, or never.
    struct Worker: Service {
        let isStuck: Bool

        func run() async throws {
            try await gracefulShutdown()
            say("asked to end")
            if isStuck { try await stay() }
        }
    }

    /// Prints a line when the launch is finished.
    struct Reporter: Service {
        let launch: Launch?

        func run() async throws {
            if let launch {
                for await status in launch.statusUpdates where status == .finished { break }
                say("started")
            }
            try await gracefulShutdown()
        }
    }
}
