import Foundation
import LaunchGuardReportModel

/// A directory for one test, with a state directory and a journal into which children write.
/// Removed at the end of the test.
final class TestDirectory: Sendable {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "launchguard-guards-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// The entries of the children, in order.
    var journal: [String] {
        let text = try? String(contentsOfFile: directory + "/journal", encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    func lastRun() throws -> RunReport? {
        try StateDirectory(path: directory + "/state").runPaths().last.map { try Reader(path: $0).run() }
    }

    /// Breadcrumbs of guards in the log of the last run.
    func guardLog() throws -> [String] {
        try lastRun()?.breadcrumbs?.entries.filter { $0.category == "guard" }.map(\.text) ?? []
    }
}
