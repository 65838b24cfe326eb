import Foundation
import LaunchGuardSymbols
import Testing

@testable import LaunchGuardReportModel

/// Several crashes of one run: the one that counts, and the output about the others.
@Suite struct OtherCrashesTests {
    private static let path = Sample.golden("briefs.lgrun")

    @Test func everyCrashIsRead() throws {
        let report = try Reader(path: Self.path).run()
        let crash = try #require(report.crash)
        #expect(crash.signal.name == "SIGBUS" && crash.threadID == 4712 && crash.sequence == 3 && crash.isBrief == true && crash.within == nil)
        #expect(crash.stack?.frames.count == 128 && crash.stack?.omitted == 172 && crash.dwarfStack == nil && crash.registers?.count == 18)
        #expect(crash.threads == nil && crash.messages == nil && crash.memoryMap == nil && crash.notes == nil)
        let others = try #require(report.otherCrashes)
        #expect(others.map(\.sequence) == [1, 2] && others.map(\.isBrief) == [nil, true] && others.map(\.within) == [nil, 1])
        #expect(others[0].messages?.count == 3 && others[0].threads?.count == 4 && others[0].dwarfStack != nil)
        #expect(others[1].stages == [.header, .context] && others[1].stack == nil)
        #expect(report.recordedCrash == others[0])
        #expect(report.verdict?.signal?.name == "SIGBUS" && report.isDamaged)
        #expect(report.problems.map(\.part) == ["another crash: crash header", "another crash: frame-pointers stack"])
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
    }

    /// A reader that is used twice gives the same: the crash that counts stays selected.
    @Test func aReaderIsUsedTwice() throws {
        let reader = try Reader(path: Self.path)
        #expect(try reader.run() == reader.run())
    }

    @Test func aFileOfOneCrashHasNoOthers() throws {
        let report = try Reader(path: Sample.goldenPath).run()
        #expect(report.crash?.isBrief == nil && report.otherCrashes == nil && report.recordedCrash == report.crash)
        #expect(!JSONLine.text(report).contains("otherCrashes"))
    }

    @Test func theOthersFollowTheOneThatCounts() throws {
        let report = try Reader(path: Self.path).run()
        let lines = text { report.write(to: &$0) }.lines
        #expect(lines[0] == "bus error at address 0x30 in parts + 0x300 of org.example.parts")
        let headings = [
            "thread 4712 \"worker\" crashed",
            "another crash: SIGABRT (abort.explicit) on thread 4711 \"loader\", earlier, and still in its handler when the crash above came",
            "another crash: SIGSEGV (fault.null_read) on thread 4711 \"loader\", in the handler of the crash of thread 4711",
            "other threads, when thread 4711 crashed", "registers", "memory",
        ]
        let found = try headings.map { try #require(lines.firstIndex(of: $0), "\($0)") }
        #expect(found == found.sorted())
        #expect(lines[found[0] + 1] == "  300 frames, by frame pointers")
        #expect(lines[found[1] + 1].hasSuffix("terminate called after throwing an instance of"))
        #expect(lines[found[2] + 1] == "  no stack was stored: the record ends after the stage context")
    }

    /// The first crash is the cause; the others came in its handler, before it and after it.
    @Test func thePlaceOfEachCrashIsNamed() throws {
        var report = try Sample.crash()
        let crash = try #require(report.crash)
        func heading(_ change: (inout Crash) -> Void) -> String? {
            var other = crash
            other.threadID = 4799
            other.threadName = nil
            other.kind = "abort.explicit"
            other.signal = RunSignal(6)
            change(&other)
            report.otherCrashes = [other]
            return text { report.write(to: &$0) }.lines.first { $0.contains(" on thread 4799") }
        }
        report.crash?.sequence = 3
        let abort = "another crash: SIGABRT (abort.explicit) on thread 4799"
        #expect(heading { $0.sequence = 4; $0.within = 3 } == abort + ", in the handler of the crash above")
        #expect(heading { $0.sequence = 2 } == abort + ", earlier, and still in its handler when the crash above came")
        #expect(heading { $0.sequence = 2; $0.isHandled = true } == abort + ", earlier; the program survived it")
        #expect(heading { $0.sequence = 4; $0.isHandled = true } == abort + ", later; the program survived it")
        #expect(heading { $0.sequence = 4; $0.within = 9 } == abort + ", later")
        report.crash?.within = 2
        #expect(heading { $0.sequence = 2; $0.isHandled = true } == abort + ", in whose handler the crash above came; the program survived it")
        #expect(heading { $0.sequence = 4; $0.signal = RunSignal(3) } == "a dump of all threads that was asked for: SIGQUIT on thread 4799, later")
    }

    @Test func typesInTheMessagesOfAllCrashesAreDemangled() throws {
        var reports = [try Reader(path: Self.path).run()]
        Symbolicator([]).demangleMessages(of: &reports)
        #expect(reports[0].otherCrashes?[0].messages?[1].demangled == "std::runtime_error")
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
