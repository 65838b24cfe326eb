import Glibc
import LaunchGuard
import LaunchGuardGuards
import Synchronization
import TestSupport

/// The actions of a test in a child process: a session lasts as long as its process.
struct Child: Sendable {
    let directory: String

    /// The child dies by SIGALRM if it takes longer than two minutes.
    init(_ directory: String) {
        self.directory = directory
        alarm(120)
    }

    func start() throws(LaunchGuardError) -> Session {
        var configuration = Session.Configuration(appID: "org.example.tests")
        configuration.stateDirectory = directory + "/state"
        configuration.deadline = .seconds(60) // a crash beside many others, under a sanitizer
        return try Session.start(configuration)
    }

    /// The session with its guards started.
    func startGuards(
        _ policy: GuardPolicy, budget: Int = 100, onEvent: (@Sendable (GuardEvent) -> Void)? = nil
    ) throws(LaunchGuardError) -> Guards {
        let session = try start()
        var configuration = Guards.Configuration()
        configuration.classes.insert(.arithmetic)
        configuration.policy = policy
        configuration.budget = budget
        configuration.isQuiet = true
        configuration.onEvent = onEvent
        try session.guards.start(configuration)
        return session.guards
    }

    /// Append a line to the journal of the scene.
    func note(_ line: String) {
        let file = unsafe open(directory + "/journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let line = line + "\n"
        _ = unsafe write(file, line, line.utf8.count)
        close(file)
    }
}

/// Events as the closure of a start gets them.
final class Told: Sendable {
    private let events = Mutex<[GuardEvent]>([])

    var all: [GuardEvent] { events.withLock(\.self) }

    func add(_ event: GuardEvent) { events.withLock { $0.append(event) } }

    /// Wait until so many events are there.
    func wait(for count: Int) async throws -> [GuardEvent] {
        try await waitUntil("\(count) events come") { all.count >= count }
        return all
    }
}

/// A value that the compiler cannot see through: it refuses a fault that it sees.
@inline(never) @_optimize(none) func opaque<Value>(_ value: Value) -> Value { value }

/// How a trap ends a program.
#if arch(x86_64) || arch(i386)
let trap = SIGILL
#else
let trap = SIGTRAP
#endif
