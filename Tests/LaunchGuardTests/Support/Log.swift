import Synchronization
import TestSupport

/// Events in order, for tests that end no process.
final class Log: Sendable {
    private let entries = Mutex<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func add(_ entry: String) { entries.withLock { $0.append(entry) } }

    /// The events since the last call.
    func take() -> [String] {
        entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
    }

    /// Wait until an entry is there.
    func wait(for entry: String) async throws {
        try await waitUntil("\(entry), after \(all)") { all.contains(entry) }
    }
}
