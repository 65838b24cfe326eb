import Foundation
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardReportModel
import Testing
import TestSupport

/// A state directory for one test, and the actions of the test in its child processes.
struct Scene: Codable, Sendable {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "launchguard-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    /// In the child, which dies by SIGALRM if it takes too long.
    func start() throws -> Session {
        alarm(120)
        var configuration = Session.Configuration(appID: "org.example.tests")
        configuration.stateDirectory = directory
        // Many children crash at once, with a sanitizer perhaps.
        configuration.deadline = .seconds(60)
        return try Session.start(configuration)
    }

    /// In the child: with guards, which survive.
    func startGuarded(_ policy: GuardPolicy = .survive) throws -> Session {
        let session = try start()
        var configuration = Guards.Configuration()
        configuration.policy = policy
        try session.guards.start(configuration)
        return session
    }

    /// The report of the last run.
    func report() throws -> RunReport {
        try Reader(path: try #require(try StateDirectory(path: directory).runPaths().last)).run()
    }

    /// The breadcrumbs of its guards, with their fields: "text key=value".
    func told() throws -> [String] {
        try report().breadcrumbs?.entries.filter { $0.category == "guard" }.map { entry in
            ([entry.text] + (entry.fields ?? []).map { "\($0.key)=\($0.value ?? "")" }).joined(separator: " ")
        } ?? []
    }
}

/// Events in order, from any thread.
final class Journal: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var lines: [String] = []

    var all: [String] { lock.withLock { unsafe lines } }

    func add(_ line: String) { lock.withLock { unsafe lines.append(line) } }

    /// Wait until so many events are there.
    func wait(for count: Int) throws {
        try blockUntil("\(count) events, after \(all.count)") { all.count >= count }
    }
}

/// In the child: end it where something is wrong, and say what.
func expect(_ isRight: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String = "", line: Int32 = #line) rethrows {
    if try isRight() { return }
    FileHandle.standardError.write(Data("line \(line): \(what())\n".utf8))
    exit(line & 127 | 128)
}

/// In the child: wait until the condition holds.
func expectWithin(_ what: String, line: Int32 = #line, _ condition: () -> Bool) {
    do { try blockUntil(what, condition) } catch { expect(false, "\(error)", line: line) }
}

/// Write through a bad pointer: a crash that is not of the guards.
func dieOfAnotherBug() {
    unsafe UnsafeMutablePointer<Int>(bitPattern: 0x10)?.pointee = 1
}
