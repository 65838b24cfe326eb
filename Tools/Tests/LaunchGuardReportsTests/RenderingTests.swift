import LaunchGuardReportModel
import Testing

@Suite struct RenderingTests {
    @Test(arguments: [
        ("plain text, ä, 日本", "plain text, ä, 日本"), ("\u{1B}[31mred\u{1B}[0m", #"\x1B[31mred\x1B[0m"#), ("a\nb\tc\r\0", #"a\x0Ab\x09c\x0D\x00"#),
        ("\u{7F}\u{9B}31m", #"\x7F\x9B31m"#), ("\u{202E}gpj.exe\u{2028}", #"\u{202E}gpj.exe\u{2028}"#), ("\u{FFFD}", "\u{FFFD}"),
    ])
    func controlCharactersAreEscaped(text: String, escaped: String) {
        #expect(TextWriter.escaped(text) == escaped)
    }

    @Test(arguments: ["plain text", "ä, 日本", "e\u{301}", "\u{1B}[31m", "exactly eight"])
    func columnsAreAsWideAsTheirText(text: String) {
        var writer = TextWriter()
        writer.add(text, width: 20)
        #expect(writer.text.count == 20 && writer.text.hasPrefix(TextWriter.escaped(text)))
        writer.removeAll()
        writer.add(text, width: 1)
        #expect(writer.text == TextWriter.escaped(text))
    }

    @Test func nothingFromAFileReachesTheTerminalAsItIs() throws {
        let evil = "\u{1B}]0;owned\u{07}\u{9B}2J\n\u{202E}"
        var report = try Sample.surrounded()
        report.crash?.messages?[0].text = evil.replacing("\n", with: "")
        report.crash?.messages?[1].source = .init(rawValue: evil)
        report.crash?.addressPlace = evil
        report.crash?.threads?[0].how = .init(rawValue: evil)
        report.crash?.threadCounts?.silent = 0
        report.crash?.threads?[0].state = evil
        report.crash?.threads?[1].name = evil
        report.crash?.threadCounts?.listProblem = evil
        report.crash?.memoryMap?.mappings[0].path = evil
        report.crash?.memoryMap?.mappings[0].permissions = evil
        report.crash?.resources?[evil] = Resource(value: 1, unit: evil)
        report.standardError?.text = "\u{1B}]0;owned\u{07}\nof it\n"
        report.identity?.appID = evil
        report.identity?.executable = evil
        report.contexts?[0].name = evil
        report.contexts?[0].task = evil
        report.contexts?[0].modules = [evil]
        report.crash?.threadName = evil
        report.crash?.message = evil
        report.crash?.kind = evil
        report.crash?.registers?[0].name = evil
        report.crash?.framePointerStack?.reason = evil
        report.crash?.stackDisagreement = evil
        report.crash?.framePointerStack?.frames[0].symbols?[0].name = evil
        report.crash?.framePointerStack?.frames[0].symbols?[1].file = evil
        report.crash?.framePointerStack?.frames[1].module = evil
        report.breadcrumbs?.entries[0].text = evil
        report.breadcrumbs?.entries[0].category = evil
        report.breadcrumbs?.entries[0].fields = [.init(key: evil, value: evil)]
        report.annotations = [Annotation(key: evil, value: evil), Annotation(redacted: evil)]
        report.modules?[0].path = evil
        report.problems[0].part = evil
        var ledger = try Sample.ledger()
        ledger.appID = evil
        ledger.contexts[0].name = evil
        ledger.contexts[0].lastTask = evil
        ledger.contexts[0].mode = evil
        ledger.contexts[0].ladder[1].name = evil
        ledger.contexts[0].suspects[0].key = evil
        ledger.timeline[0].attributed = [evil]
        ledger.timeline[0].appVersion = evil
        ledger.uncounted[0].appVersion = evil
        ledger.path = evil

        var harmless = try Sample.surrounded()
        harmless.crash?.stackDisagreement = "harmless"
        let expectedLines = try (text { harmless.write(to: &$0, includesMap: true) } + text { try Sample.ledger().write(to: &$0) }).lines
        let text = text { report.write(to: &$0, includesMap: true) } + text { ledger.write(to: &$0) }
        #expect(text.contains(#"\x1B]0;owned\x07\x9B2J\x0A\u{202E}"#))
        #expect(text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }.isEmpty)
        #expect(!text.unicodeScalars.contains("\u{202E}"))
        #expect(text.lines.count == expectedLines.count + 4, "the modules have a line, annotations three; a line end from a file makes no line")

        for json in [JSONLine.text(report), JSONLine.text(ledger)] {
            #expect(json.unicodeScalars.filter { $0.properties.generalCategory == .control }.isEmpty)
            #expect(!json.unicodeScalars.contains("\u{202E}"))
        }
        #expect(try JSONLine.value(RunReport.self, from: JSONLine.text(report)) == report)
    }

    @Test func overwrittenBreadcrumbsAreCounted() throws {
        #expect(try text { try Sample.crash().write(to: &$0) }.contains("  2 earlier breadcrumbs were overwritten\n"))
        #expect(Breadcrumbs(entries: [], overwrittenBytes: 32, overwrittenEntries: 1).overwritten == "1 earlier breadcrumb was overwritten")
        #expect(Breadcrumbs(entries: [], overwrittenBytes: 64).overwritten == "64 bytes of earlier breadcrumbs were overwritten")
        #expect(Breadcrumbs(entries: []).overwritten == nil)
    }

    @Test func coloursAreForTerminalsOnly() throws {
        let report = try Sample.crash()
        var coloured = TextWriter(isColored: true)
        report.write(to: &coloured)
        #expect(coloured.text.hasPrefix("\u{1B}[1;31mread through a NULL pointer "))
        #expect(!text { report.write(to: &$0) }.contains("\u{1B}"))
    }

    @Test func aCrashReportNamesTheCauseFirst() throws {
        let lines = try text { try Sample.crash().write(to: &$0) }.lines
        #expect(lines[0] == "read through a NULL pointer in Notes.open() at Notes.swift:42 of org.example.notes")
        #expect(lines[1] == "  signal:    SIGSEGV (fault.null_read) at address 0x0")
        #expect(lines[2] == "  evidence: the run file holds a crash record")
        #expect(lines.contains("run          12, 6b1f9f1e-0000-4000-8000-000000000001"))
        #expect(lines.contains("fingerprint  6bc0c37437f4aeabb1fb4203ae4651f5"))
        #expect(lines.contains("started      2026-01-31T12:00:00.000000001Z, lasted 1.402 s"))
        #expect(lines.contains(#"context      main: launching after 200.000 ms, not finished, in the task "open database", window 5000 ms"#))
        #expect(lines.contains("thread 4712 \"loader\" crashed"))
        #expect(lines.contains("  93 frames, by frame pointers: DWARF unwinding was not committed"))
        #expect(lines.contains("    the walk ended early: the stack ends"))
        #expect(lines.contains("  the handler crashed in the stage dwarf: SIGBUS in thread 4712 at 0x10"))
        #expect(lines.contains("  2026-01-31T12:00:00.300000001Z  warning   [4711] disk is slow"))
        #expect(lines.contains("  1400000000 ns  35        [4712] cut here …"))
        #expect(lines.contains("  1 breadcrumb was not committed or is damaged"))
        #expect(lines.contains("  dwarf stack: incomplete: this part was not committed before the process ended"))
    }

    @Test func frameLinesCanBePasted() throws {
        let lines = try text { try Sample.crash().write(to: &$0) }.lines
        let start = try #require(lines.firstIndex { $0.hasPrefix("#0") })
        #expect(
            lines[start..<start + 5] == [
                "#0   0x00005581c61b6581 in Array.subscript.getter (inlined) of notes",
                "#0   0x00005581c61b6581 in Notes.open() + 129 at Sources/App/Notes.swift:42 of notes",
                "#1   0x00005581c61b7001 in notes + 0x7001",
                "    … 90 frames are not stored …",
                "#92  0x0000000000001235 in ??",
            ])
    }

    @Test func framesThatRepeatAreWrittenOnce() throws {
        func frame(_ address: UInt64) -> Frame { Frame(address: Address(address), lookup: Address(address)) }
        var report = try Sample.crash()
        let recursion = [frame(1)] + Array(repeating: [frame(2), frame(3)], count: 5).flatMap(\.self)
        report.crash?.framePointerStack = Stack(
            method: .framePointers, frames: recursion + Array(repeating: frame(2), count: 4) + [frame(9), frame(9), frame(9)],
            innermost: recursion.count, omitted: 1000)
        let lines = text { report.write(to: &$0) }.lines
        let start = try #require(lines.firstIndex { $0.hasPrefix("#0") })
        #expect(
            lines[start..<start + 10] == [
                "#0     0x0000000000000001 in ??", "#1     0x0000000000000002 in ??", "#2     0x0000000000000003 in ??",
                "    … these 2 frames repeat to #10 …", "    … 1000 frames are not stored …",
                "#1011  0x0000000000000002 in ??", "    … this frame repeats to #1014 …",
                "#1015  0x0000000000000009 in ??", "#1016  0x0000000000000009 in ??", "#1017  0x0000000000000009 in ??",
            ])
    }

    @Test func walksThatDisagree() throws {
        var report = try Sample.crash()
        #expect(!text { report.write(to: &$0) }.contains("disagree"))
        report.crash?.stackDisagreement = "a frame pointer may hold any value"
        #expect(text { report.write(to: &$0) }.contains("  the two walks disagree: a frame pointer may hold any value\n"))
    }

    @Test(arguments: [
        (RunEnd.terminated, "terminated: SIGSEGV sent by process 1"), (.exit, "exit: exit status 3"), (.clean, "clean: exit status 3"),
        (.running, "running: process 4711"), (.unknown, "ended without a trace: killed, or ended without exit(); a witness would have recorded which"),
        (.reboot, "reboot: the machine was started again while it ran"),
    ])
    func headlines(end: RunEnd, text: String) throws {
        var report = try Sample.crash()
        report.crash = nil
        report.verdict?.end = end
        report.verdict?.exitCode = 3
        #expect(report.headline == text)
        report.verdict = nil
        #expect(report.headline.hasPrefix("damaged: "))
    }

    private func text(_ write: (inout TextWriter) throws -> Void) rethrows -> String {
        var writer = TextWriter()
        try write(&writer)
        return writer.text
    }
}

extension String {
    fileprivate var lines: [String] {
        split(separator: "\n").map(String.init)
    }
}
