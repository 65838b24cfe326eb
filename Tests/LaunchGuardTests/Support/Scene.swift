import Foundation
import LaunchGuardReports

/// A directory of a test's own, with a state directory and a journal that children write into; removed at the end of the test.
final class Scene: Sendable {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "launchguard-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

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
