import Foundation
import LaunchGuardReportModel
import Testing

/// A list reads the same facts of a run as the whole report has.
@Suite struct SummaryTests {
    @Test(arguments: [
        "crash.lgrun", "least.lgrun", "parts.lgrun", "lanes.lgrun", "later.lgrun", "task.lgrun",
        "annotated.lgrun", "fields.lgrun", "live.lgrun", "briefs.lgrun", "guards.lgrun", "executed.lgrun",
    ])
    func itSaysWhatTheReportSays(file: String) throws {
        let reader = try Reader(path: Sample.golden(file))
        var report = try reader.run()
        let summary = try reader.summary()
        if report.crash == nil, report.snapshots == nil { report.modules = nil }
        if report.breadcrumbs != nil { report.problems.removeAll { $0.part == "ring log" } }
        report.breadcrumbs = nil
        report.annotations = nil
        report.heartbeats = nil
        report.deadlines = nil
        #expect(report.fingerprint?.count == 32)
        report.fingerprint = nil
        // The summary counts events, and does not look at what is known of their sites.
        if report.guards != nil { report.problems.removeAll { $0.part == "guards" } }
        report.guards?.sites = nil
        #expect(summary == report)
    }

    @Test func aRingLogOutOfBoundsIsAProblem() throws {
        let folder = try TemporaryFolder()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: Sample.golden("lanes.lgrun"))))
        let ring = try #require(bytes.offset(ofSection: 5))
        bytes[ring] ^= 0xFF
        let path = try folder.write(bytes, "run.lgrun")
        #expect(try Reader(path: path).summary().problems.map(\.part) == ["ring log"])
        #expect(try Reader(path: path).run().problems.map(\.part) == ["ring log"])
    }

    @Test func aLedgerHasNone() throws {
        let reader = try Reader(path: Sample.golden("ledger.lg"))
        #expect(#expect(throws: ReportError.self) { try reader.summary() }?.code == .state)
    }
}
