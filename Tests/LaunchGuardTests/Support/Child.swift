import Glibc
import LaunchGuard

/// The actions of a test in a child process: a session lasts as long as its process.
struct Child: Sendable {
    let directory: String

    /// The child dies by SIGALRM if it takes longer than `seconds`. With 0, which is for the
    /// parent, there is no limit.
    init(_ directory: String, seconds: UInt32 = 120) {
        self.directory = directory
        if seconds > 0 { alarm(seconds) }
    }

    func start(version: String = "1", _ configure: (inout Session.Configuration) -> Void = { _ in }) throws(LaunchGuardError) -> Session {
        var configuration = Session.Configuration(appID: "org.example.tests", version: version)
        configuration.stateDirectory = directory + "/state"
        configuration.deadline = .seconds(60)  // a crash beside many others
        configure(&configuration)
        return try Session.start(configuration)
    }

    /// Append a line to the journal of the scene.
    func note(_ line: String) {
        let file = unsafe open(directory + "/journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let line = line + "\n"
        _ = unsafe write(file, line, line.utf8.count)
        close(file)
    }

    func hasNote(_ line: String) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let file = unsafe open(directory + "/journal", O_RDONLY | O_CLOEXEC)
        let size = unsafe read(file, &buffer, buffer.count)
        close(file)
        return String(decoding: buffer.prefix(max(size, 0)), as: UTF8.self).split(separator: "\n").contains(Substring(line))
    }

    /// A launch whose task crashes.
    func crash(in context: String = "main") async throws {
        let launch = try start().launch(context, .init(reportAfter: 2))
        launch.addTask("crash") { Self.fault() }
        try await launch.begin().get()
        note("survived")
    }

    /// Begin and finish a launch; returns every status on the way.
    static func statuses(of launch: Launch) async throws -> [Launch.Status] {
        var updates = launch.statusUpdates.makeAsyncIterator()
        try await launch.begin().get()
        launch.finish()
        var statuses: [Launch.Status] = []
        while let status = await updates.next() { statuses.append(status) }
        return statuses
    }

    /// Write through a bad pointer.
    static func fault() {
        unsafe UnsafeMutablePointer<Int>(bitPattern: 0x10)?.pointee = 1
    }
}

/// An error with a text.
struct Failure: Error, CustomStringConvertible {
    let description: String
}
