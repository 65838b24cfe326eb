import Foundation
import Testing

@testable import LaunchGuardReportModel

/// The parts of a run file about a living program: the model, and its rendering.
@Suite struct SnapshotTests {
    private static let path = Sample.root
        .appending(path: "Tests/Golden/live.lgrun").path(percentEncoded: false)

    @Test func everyPartIsRead() throws {
        let report = try Reader(path: Self.path).run()
        #expect(report.heartbeats?.map(\.threadID) == [4711, 4799, -1])
        #expect(report.heartbeats?.map(\.isPaused) == [false, true, false])
        #expect(report.heartbeats?[0].hangSinceNanoseconds == report.identity?.hangSinceNanoseconds)
        #expect(report.deadlines?.map(\.name) == ["upload \"notes\"", "nightly"])
        #expect(report.deadlines?.map(\.nearNanoseconds) == [30_000_000_000, nil])
        #expect(report.deadlines?[1].limitMilliseconds == 86_400_000)
        let snapshots = try #require(report.snapshots)
        #expect(snapshots.map(\.kind) == [.hang, .deadline])
        let hang = snapshots[0]
        #expect(hang.name == "player" && hang.threadID == 4711 && hang.isComplete && hang.resolvedNanoseconds == nil)
        #expect(hang.threads?.map(\.threadID) == [4711, 4713, 4715])
        #expect(hang.threads?[0].stack?.frames.count == 7 && hang.threads?[0].registers?.count == 18)
        #expect(hang.threadCounts?.listed == 5 && hang.threadCounts?.listProblem != nil)
        #expect(snapshots[1].length == 28_000_000_000 && !snapshots[1].isComplete)
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
    }

    @Test func theStacksOfAShortageNameTheBusyThread() throws {
        let report = try Reader(path: Sample.golden("busy.lgrun")).run()
        #expect(report.problems.isEmpty)
        let memory = try #require(report.snapshots?.first)
        #expect(report.snapshots?.count == 1 && memory.kind == .memory && memory.threadID == 0 && memory.name == nil)
        #expect(memory.threads?.map(\.cpuNanoseconds) == [1_000_000_000, 98_000_000_000, nil])
        let lines = text { report.write(to: &$0) }.lines
        let start = try #require(lines.firstIndex(of: "stacks when memory came near its limit, taken after 2.000 s"))
        #expect(
            Array(lines[(start + 1)...(start + 3)]) == [
                "  it was over after 4.000 s", "  most CPU time: thread 4809 \"decoder\" 1 min 38 s (99 %), thread 4712 \"player\" 1.000 s (1 %)",
                "  thread 4712 \"player\", CPU time 1.000 s",
            ])
        #expect(lines.contains("  thread 4714 \"away\", sleeping") && !lines.contains { $0.contains("which ") && $0.contains("thread 0") })
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
        #expect(try Reader(path: Sample.golden("busy.lgrun")).summary().snapshots == report.snapshots)
    }

    @Test func timesThatSayNothingHaveNoLine() {
        func hottest(_ times: UInt64...) -> String? { CPUTime.hottest(of: times.map { CPUTime(thread: "t", nanoseconds: $0) }) }
        #expect(hottest() == nil && hottest(5_000_000_000) == nil && hottest(5_000_000_000, 0) == nil)
        #expect(hottest(5_000_000, 4_999_999) == nil)
        #expect(hottest(1_000_000, 9_000_000) == "most CPU time: t 9.000 ms (90 %), t 1.000 ms (10 %)")
        #expect(hottest(.max, .max)?.hasSuffix(" (50 %)") == true)
        #expect(hottest(1, 10_000_000_000, 1) == "most CPU time: t 10.000 s (100 %)")
        let groups = [ThreadState(threadID: 1, how: .captured), ThreadState(threadID: 2, how: .captured)]
        #expect(ThreadState.cpuWords(of: groups) == nil)
    }

    @Test func theThreadThatHungIsTheFirst() throws {
        var report = try Reader(path: Self.path).run()
        report.snapshots?[0].threads?.swapAt(0, 2)
        let lines = text { report.write(to: &$0) }.lines
        let start = try #require(lines.firstIndex(of: "stacks while it hung, taken after 2.000 s"))
        #expect(lines[start + 1] == "  thread 4711 \"player\", which hung")
        #expect(lines[start + 3].hasPrefix("    #0  0x00007f0000104444 in libexample.so.1"))
        #expect(lines.contains("  thread 4711 \"player\": last heartbeat 4.000 s after the start: it hung"))
        #expect(lines.contains("  job \"nightly\" of thread 4744: begun 2.000 s after the start, deadline 24 h 0 min"))
        let job = try #require(lines.firstIndex { $0.hasPrefix("stack of the job \"upload \"notes\"\"") })
        #expect(Array(lines[(job + 1)...(job + 2)]) == ["  it was over after 28.000 s", "  thread 4713 \"uploader\", which began the job"])
    }

    /// Named by a heartbeat, by a snapshot alone, and by neither.
    @Test func theHeadlineNamesTheHangingThreadItsPlaceAndItsTime() throws {
        var report = try Reader(path: Self.path).run()
        report.breadcrumbs = nil
        report.identity?.termination = nil
        report.identity?.cpuLimit = nil
        report.identity?.memoryPressure = nil
        report.deadlines = nil
        report.heartbeats = report.heartbeats.map { Array($0.prefix(1)) }
        report.snapshots?.removeLast()
        report.verdict = Verdict(end: .hang, evidence: "-", evidenceKind: .hangMark)
        let end = "; the last heartbeat came 4.000 s after the start"
        report.identity?.processID = 1
        #expect(report.snapshots?[0].threads?[0].stack?.frames.prefix(4).map(\.isSignalHandlerCall) == [nil, true, nil, nil], "the kernel's call is no place")
        #expect(report.snapshots?[0].threads?[0].stack?.frames.prefix(4).map { $0.address == $0.lookup } == [true, true, true, false])
        #expect(report.headline == "hung: its thread \"player\" stood still in parts + 0x2020 for at least 2.000 s, until it was ended" + end)
        report.identity?.processID = 4711
        report.identity?.witness = .init(waitStatus: 9)
        report.snapshots?[0].threads?[0].stack?.frames[0].symbols = [.init(name: "decode()")]
        let program = report.programPath
        report.snapshots?[0].threads?[0].stack?.frames[0].module = program
        report.snapshots?[0].threads?[1].stack?.frames[0].symbols = [.init(name: "another")]
        #expect(report.headline == "hung: its main thread stood still in decode() for at least 2.000 s, until it was killed" + end)
        report.identity?.processID = 1
        report.heartbeats?[0].name = "main actor"
        report.snapshots?[0].threads?[0].name = "main actor"
        #expect(report.headline == "hung: its main actor stood still for at least 2.000 s, until it was killed" + end)
        #expect(text { report.write(to: &$0) }.contains("the thread that blocks its main actor is one of the other threads; the first thread waits for it"))
        report.heartbeats = nil
        report.snapshots?[0].name = nil
        #expect(report.headline.hasPrefix("hung: its thread 4711 stood still for at least"))
        report.snapshots?[0].sinceNanoseconds += 1
        #expect(report.headline.hasPrefix("hung: its run loop stood still for at least"))
        report.snapshots = nil
        #expect(report.headline == "hung: its run loop stood still, until it was killed" + end)
    }

    @Test func theHeadlineNamesTheJobThatIsTheEvidence() throws {
        var report = try Reader(path: Self.path).run()
        report.breadcrumbs = nil
        report.identity?.termination = nil
        report.identity?.cpuLimit = nil
        report.identity?.memoryPressure = nil
        report.heartbeats = nil
        report.snapshots = nil
        report.verdict = Verdict(end: .killed, evidence: "-", evidenceKind: .deadline)
        #expect(report.headline == "killed: its job \"upload \"notes\"\" had not ended after 27.000 s, with a deadline of 30.000 s")
        report.deadlines?[1].nearNanoseconds = 20_000_000_000
        #expect(report.headline.hasPrefix("killed: its job \"nightly\" had not ended after "))
        report.deadlines = nil
        #expect(report.headline == "killed: a job of it was about to overrun its deadline")
        report.verdict = Verdict(end: .unknown, evidence: "-", evidenceKind: .deadline)
        #expect(report.headline == "ended without a trace: a job of it was about to overrun its deadline; what ended it is not known")
    }

    @Test func missingPartsAreNamed() throws {
        var report = try Reader(path: Self.path).run()
        report.snapshots?[0].threads?.removeFirst()
        report.snapshots?[0].isComplete = false
        let lines = text { report.write(to: &$0) }.lines
        #expect(lines.contains("  thread 4711, which hung, is not in the snapshot"))
        #expect(lines.contains("  the program ended before all of it was taken"))
        #expect(lines.contains("  1 more thread is not shown: there was no room"))
    }

    @Test func nothingReachesTheTerminalAsItIs() throws {
        let evil = "\u{1B}]0;owned\u{07}\n\u{202E}"
        var report = try Reader(path: Self.path).run()
        report.heartbeats?[0].name = evil
        report.deadlines?[0].name = evil
        report.snapshots?[0].threadCounts?.listProblem = evil
        report.snapshots?[0].threads?[0].name = evil
        report.snapshots?[1].name = evil
        let clean = try text { try Reader(path: Self.path).run().write(to: &$0) }
        let shown = text { report.write(to: &$0) }
        #expect(shown.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }.isEmpty)
        #expect(!shown.unicodeScalars.contains("\u{202E}") && shown.lines.count == clean.lines.count)
        report.snapshots?[0].kind = .init(rawValue: evil)
        #expect(!text { report.write(to: &$0) }.contains(evil))
    }

    private func text(_ write: (inout TextWriter) throws -> Void) rethrows -> String {
        var writer = TextWriter()
        try write(&writer)
        return writer.text
    }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}
