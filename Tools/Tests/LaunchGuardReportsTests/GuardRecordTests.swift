import CLaunchGuard
import Foundation
import Testing

@testable import LaunchGuardReportModel
@testable import LaunchGuardSymbols

/// Records of guards in a run file and in a ledger: the model, its rendering, and a real program.
@Suite struct GuardRecordTests {
    private static let path = Sample.golden("guards.lgrun")

    @Test func everyPartIsRead() throws {
        let report = try Reader(path: Self.path).run()
        let guards = try #require(report.guards)
        #expect(guards.events == 1065 && guards.survived == 1024 && report.isDegraded)
        let sites = try #require(guards.sites)
        #expect(sites.map(\.guardClass) == [.container, .memory, .string, .handle, .init(rawValue: "99"), .timer, nil])
        #expect(sites.map(\.action) == [.survived, .exhausted, .reported, .ended, .init(rawValue: "77"), nil, .survived])
        #expect(sites.map(\.events) == [11, 12, 13, 14, 15, 0, 1000] && sites.map(\.survived) == [11, 2, 3, 4, 5, 0, 999])
        #expect(sites.map { $0.text != nil } == [true, true, false, false, true, false, false])
        #expect(sites.map(\.isDamaged) == [nil, nil, nil, true, nil, nil, nil])
        #expect(report.problems.contains { $0.part == "guards" && $0.isDamage })
        let first = sites[0]
        #expect(first.text == "index 9 of 3 \u{1B}[31m\u{FFFD}" && first.threadID == 4711 && first.threadName == "player")
        #expect(first.fields == [.init(key: "index", value: "9"), .init(key: "count", value: "3")])
        #expect(first.place == first.frames?.first && first.place?.fileAddress == Address(0x1233), "a site is a return address")
        #expect(first.firstNanoseconds == 2_000_000_001 && first.lastNanoseconds == 3_000_000_001)
        #expect(sites[1].frames?.count == 32 && sites[1].fields?.count == 4 && sites[1].text?.utf8.count == 160)
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
    }

    @Test func filesWithoutGuardsAreAsEver() throws {
        let report = try Reader(path: Sample.golden("agent.lgrun")).run()
        #expect(report.guards == nil && !report.isDegraded)
        #expect(!JSONLine.text(report).contains("guards") && !text { report.write(to: &$0) }.contains("guard"))
        #expect(try Sample.crash().guards == nil, "a report without them is decoded")
    }

    @Test func theSitesAreShown() throws {
        var report = try Reader(path: Self.path).run()
        let lines = text { report.write(to: &$0) }.lines
        #expect(lines.contains("degraded     guards survived 1024 faults"))
        let start = try #require(lines.firstIndex(of: "guards: 1065 events, 1024 survived"))
        #expect(
            Array(lines[(start + 1)...(start + 3)]) == [
                "  container: index 9 of 3 \\x1B[31m\u{FFFD}  index=9 count=3",
                "    11 events, 11 survived, last survived; first after 1.000 s; last after 2.000 s; first in thread 4711 \"player\"",
                "    #0  0x0000555500001234 in parts + 0x1234",
            ])
        #expect(lines.contains("    … 27 more frames"))
        #expect(lines.contains("  string: its first event is not described") && lines.contains("  handle: damaged"))
        #expect(lines.contains("    0 events, 0 survived, one under way"))
        #expect(lines.contains { $0.hasPrefix("  other sites:") })

        let evil = "\u{1B}]0;x\u{7}\n\u{202E}\"evil\" =\\"
        report.guards?.sites?[0].text = evil
        report.guards?.sites?[0].threadName = evil
        report.guards?.sites?[0].guardClass = .init(rawValue: evil)
        report.guards?.sites?[0].action = .init(rawValue: evil)
        report.guards?.sites?[0].fields = [.init(key: evil, value: evil)]
        let shown = text { report.write(to: &$0) }
        #expect(shown.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }.isEmpty)
        #expect(!shown.unicodeScalars.contains("\u{202E}") && shown.lines.count == lines.count)
    }

    @Test func theTimelineNamesDegradedRuns() throws {
        let ledger = try Reader(path: Sample.golden("degraded.lg")).ledger()
        #expect(ledger.timeline.map(\.isDegraded) == [true, true, nil])
        #expect(ledger.timeline.map(\.counted) == [[], ["main"], []], "it counts as ever")
        let lines = text { ledger.write(to: &$0) }.lines
        #expect(lines.filter { $0.hasSuffix("; degraded: guards survived faults") }.count == 2)
        let again: LedgerReport = try JSONLine.value(from: JSONLine.text(ledger))
        #expect(again == ledger)
        #expect(try Reader(path: Sample.golden("late.lg")).ledger().timeline.allSatisfy { $0.isDegraded == nil })
    }

    // MARK: - A real program

    @Test func aSurvivedFaultIsShownEverywhere() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let child = Child(path)
            child.redact("token")
            child.findFault(LG_GUARD_SURVIVE)
            kill(getpid(), SIGKILL)
        }
        let path = try #require(try StateDirectory(path: folder.path).runPaths().last)
        var report = try Reader(path: path).run()
        #expect(report.problems.isEmpty && report.isDegraded)
        let site = try #require(report.guards?.sites?.first)
        #expect(site.fields == [.init(key: "index", value: "9"), .init(key: "token", value: nil)])
        #expect(site.guardClass == .container && site.action == .survived && site.events == 1)
        if LLVMSymbolizer.find() != nil {
            try Symbolicator().symbolicate(&report)
            let symbolised = try #require(report.guards?.sites?.first)
            for frame in [symbolised.place, symbolised.frames?.first] {
                #expect(frame?.symbols?.contains { $0.name.contains("findFault") && $0.file?.hasSuffix("RecordedState.swift") == true } == true)
            }
        }

        // Not counted yet, and then counted: the same word.
        let before = try Tool.run(["inspect", folder.path])
        #expect(before.output.contains("not yet counted; degraded: guards survived faults"))
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            _ = Child(path)
        }
        #expect(try StateDirectory(path: folder.path).ledger().timeline.last?.isDegraded == true)
        let list = try Tool.run(["list", "--no-symbols", folder.path])
        let lines = list.output.lines
        #expect(lines.first { $0.hasPrefix("#1") }?.hasSuffix("  degraded") == true)
        #expect(lines.first { $0.hasPrefix("#2") }?.contains("degraded") == false)
        #expect(try Tool.run(["list", "--json", folder.path]).output.components(separatedBy: "\"isDegraded\":true").count == 2)
        let inspect = try Tool.run(["inspect", path])
        #expect(inspect.output.contains("  container: index 9 of 3  index=9 token=(redacted)\n"))
    }

    @Test func theGuardThatEndedTheProgramIsItsMessage() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .signal(SIGABRT)) { [path = folder.path as String] in
            Child(path).findFault(LG_GUARD_FATAL)
        }
        let path = try #require(try StateDirectory(path: folder.path).runPaths().last)
        let report = try Reader(path: path).run()
        #expect(report.crash?.messages == [Message(source: .guard, text: "launchguard: guard container: index 9 of 3")])
        #expect(report.guards?.sites?.first?.action == .ended && !report.isDegraded)
        let lines = try Tool.run(["inspect", "--no-symbols", path]).output.lines
        #expect(lines.dropFirst(2).first == "  guard:     launchguard: guard container: index 9 of 3")
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
