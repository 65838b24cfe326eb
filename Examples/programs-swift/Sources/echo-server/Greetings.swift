import Foundation
import Synchronization

/// The lines of a file, one after the other.
final class Greetings: Sendable {
    private let path: String
    private let lines = Mutex<[String]>(["hello"])
    private let turn = Atomic(0)

    init(path: String) { self.path = path }

    func load() async throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
        let read = text.split(separator: "\n").map(String.init)
        precondition(!read.isEmpty, "no greetings")  // The bug of this program.
        lines.withLock { $0 = read }
    }

    func putAside() throws { try FileManager.default.moveItem(atPath: path, toPath: path + ".bad") }

    var next: String {
        let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return lines.withLock { $0[number % $0.count] }
    }
}
