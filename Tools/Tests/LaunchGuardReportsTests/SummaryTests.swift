import Foundation
import LaunchGuardReports
import Testing

/// What a list reads of a run is what the whole report says of it.
@Suite struct SummaryTests {
    @Test(arguments: [
        "v1.0/crash.lgrun", "v1.1/crash.lgrun", "v1.1/parts.lgrun", "v1.2/lanes.lgrun", "v1.2/later.lgrun", "v1.2/task.lgrun",
        "v1.3/annotated.lgrun", "v1.3/fields.lgrun", "v1.3/live.lgrun", "v1.4/briefs.lgrun", "v1.13/guards.lgrun", "v1.14/executed.lgrun",
    ])
    func itSaysWhatTheReportSays(file: String) throws {
        let reader = try Reader(path: Sample.golden(file))
        var report = try reader.run()
        let summary = try reader.summary()
        if report.crash == nil, report.snapshots == nil { report.modules = nil }
        if report.breadcrumbs != nil { report.problems.removeAll { $0.part == "ring log" } }
        report.breadcrumbs = nil
        report.annotations = nil
        report.standardError = nil
        report.hearts = nil
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
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: Sample.golden("v1.2/lanes.lgrun"))))
        let ring = try #require(bytes.offset(ofSection: 5))
        bytes[ring] ^= 0xFF
        let path = try folder.write(bytes, "run.lgrun")
        #expect(try Reader(path: path).summary().problems.map(\.part) == ["ring log"])
        #expect(try Reader(path: path).run().problems.map(\.part) == ["ring log"])
    }

    @Test func aLedgerHasNone() throws {
        let reader = try Reader(path: Sample.golden("v2.0/ledger.lg"))
        #expect(#expect(throws: ReportError.self) { try reader.summary() }?.code == .state)
    }
}

extension [UInt8] {
    /// The place of a section, by the table in the header.
    fileprivate func offset(ofSection kind: UInt8) -> Int? {
        let table = stride(from: 64, to: 448, by: 24)
        return table.first { self[$0] == kind }.map { at in self[at + 8..<at + 16].reversed().reduce(0) { $0 << 8 | Int($1) } }
    }
}
