import Synchronization

/// What happened, in order; for tests that end nothing.
final class Log: Sendable {
    private let entries = Mutex<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func add(_ entry: String) { entries.withLock { $0.append(entry) } }

    /// What was added since the last call.
    func take() -> [String] {
        entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
    }

    /// Wait until an entry is there.
    func wait(for entry: String) async throws {
        while !all.contains(entry) { try await Task.sleep(for: .milliseconds(2)) }
    }
}
