import Foundation
import LaunchGuardReports
import Testing

/// A directory of a test's own, with a state directory and a journal that children write into; removed at the end of the test.
final class Scene: Sendable {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "launchguard-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Two launches one after the other crash: the next one is to repair.
    func crashTwice(sourceLocation: SourceLocation = #_sourceLocation) async {
        for _ in 1...2 {
            await #expect(processExitsWith: .signal(SIGSEGV), sourceLocation: sourceLocation) { [directory = directory as String] in
                try await Child(directory).crash()
            }
        }
    }

    /// What the children noted, in order.
    var journal: [String] {
        let text = try? String(contentsOfFile: directory + "/journal", encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    /// All runs, oldest first.
    func runs() throws -> [RunReport] {
        try StateDirectory(path: directory + "/state").runPaths().map { try Reader(path: $0).run() }
    }

    /// What the last run logged.
    func lastLog() throws -> [String] {
        try runs().last?.breadcrumbs?.entries.map(\.text) ?? []
    }
}
