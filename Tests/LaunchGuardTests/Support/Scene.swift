import Foundation
import LaunchGuardReportModel
import Testing

/// A directory for one test, with a state directory and a journal into which children write.
/// Removed at the end of the test.
final class Scene: Sendable {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "launchguard-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Two launches in a row crash, so that the next one repairs.
    func crashTwice(sourceLocation: SourceLocation = #_sourceLocation) async {
        for _ in 1...2 {
            await #expect(processExitsWith: .signal(SIGSEGV), sourceLocation: sourceLocation) { [directory = directory as String] in
                try await Child(directory).crash()
            }
        }
    }

    /// The entries of the children, in order.
    var journal: [String] {
        let text = try? String(contentsOfFile: directory + "/journal", encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    /// All runs, oldest first.
    func runs() throws -> [RunReport] {
        try StateDirectory(path: directory + "/state").runPaths().map { try Reader(path: $0).run() }
    }

    /// The log of the last run.
    func lastLog() throws -> [String] {
        try runs().last?.breadcrumbs?.entries.map(\.text) ?? []
    }
}
