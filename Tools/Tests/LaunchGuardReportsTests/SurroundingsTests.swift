import Foundation
import LaunchGuardReportModel
import Testing

@testable import LaunchGuardReportModel
import TestSupport

/// The parts of a crash record beside the crashed thread: the model, and its rendering.
@Suite struct SurroundingsTests {
    // MARK: - The golden file

    @Test func everyPartOfAFileIsRead() throws {
        let report = try Reader(path: Sample.goldenPath).run()
        #expect(report.problems.isEmpty)
        let crash = try #require(report.crash)
        #expect(crash.kind == "abort.cpp_exception")
        #expect(crash.stages == Crash.Stage.allCases.dropLast(), "no asynchronous callers")
        #expect(crash.messages?.map(\.source) == [.libc, .cppType, .cppWhat])
        #expect(crash.messages?[1].text == "St13runtime_error")
        #expect(crash.messages?[2].text == "no room for \"notes\" \u{1B}[31m\u{FFFD}")
        #expect(crash.messages?.map(\.isCut) == [false, false, true])
        #expect(crash.dwarfStack?.assumedFrames == 1 && crash.framePointerStack?.assumedFrames == nil)
        #expect(crash.threads?.map(\.threadID) == [4712, 4713, 4714, 4716])
        let worker = try #require(crash.threads?[0])
        #expect(worker.how == .captured && worker.state == "S" && worker.name == "worker")
        #expect(worker.blockedSignals == [RunSignal(10)])
        #expect(worker.registers?.count == 18 && worker.registers?[16] == .init(name: "rip", value: Address(16)))
        #expect(worker.stack?.method == .dwarf && worker.stack?.assumedFrames == 1)
        #expect(worker.stack?.frames.map(\.module) == ["/lib/libexample.so.1"] + Array(repeating: "/opt/example/parts", count: 4))
        #expect(worker.stack?.frames[0].lookup == Address(0x7f00_0010_4444), "the innermost address is exact")
        #expect(worker.stack?.frames[1].lookup == Address(0x5555_0000_200f), "the others are return addresses")
        #expect(crash.threads?[2].how == .masked && crash.threads?[2].stack == nil)
        #expect(crash.threads?[2].blockedSignals?.count == 64)
        #expect(crash.threads?[3].stack?.method == .framePointers && crash.threads?[3].name == nil)
        #expect(crash.threadCounts == ThreadCounts(listed: 7, captured: 3, masked: 1, silent: 1, omitted: 2, waitedNanoseconds: 1_234_567))
        #expect(crash.resources?["resident"] == Resource(value: 1_000_003, unit: "bytes"))
        #expect(crash.resources?["virtual_limit"] == Resource(value: nil, unit: "bytes"))
        #expect(crash.resources?["cgroup_memory"] == nil, "an unknown figure is absent")
        #expect(crash.memoryMap?.mappings.count == 4 && crash.memoryMap?.isCut == false)
        #expect(crash.memoryMap?.mappings[1].path == "/var/lib/example/data with spaces")
        #expect(crash.memory?.map(\.size) == [200, 0, 64] && crash.memory?.allSatisfy { $0.bytes == nil } == true)
        #expect(crash.possibleFrames?.map(\.fileAddress?.short) == ["0x302f", "0x307f", "0x30cf", "0x311f", "0x316f"])
        #expect(report.standardError?.totalBytes == 100 && report.standardError?.omittedBytes == 0)
        #expect(report.standardError?.text.hasPrefix("abcdefghijklmnopqrst\u{1B}v") == true)
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
    }

    @Test func theCPUTimesOfAllThreadsAreRead() throws {
        let report = try Reader(path: Sample.golden("cpu.lgrun")).run()
        let crash = try #require(report.crash)
        #expect(crash.cpuNanoseconds == 12_345_678_901)
        #expect(crash.threads?.map(\.cpuNanoseconds) == [1_000_000_000, 2_000_000_000, 3_000_000_000, 5_000_000_000])
        let lines = text { report.write(to: &$0) }.split(separator: "\n").map(String.init)
        let heading = try #require(lines.firstIndex(of: "other threads"))
        #expect(lines[heading + 1].hasPrefix("  most CPU time: thread 4711 \"loader\" 12.345 s (53 %), thread 4716 5.000 s (21 %)"))
        #expect(lines.contains("  threads 4712, 4713 (2) \"worker\", sleeping, CPU time 3.000 s in all"))
        let without = try #require(try Reader(path: Sample.goldenPath).run().crash)
        #expect(without.cpuNanoseconds == nil && without.threads?.allSatisfy { $0.cpuNanoseconds == nil } == true)
    }

    @Test func theBytesOfStacksComeOnRequestOnly() throws {
        let crash = try #require(try Reader(path: Sample.goldenPath).run(includingMemory: true).crash)
        #expect(crash.memory?.map { $0.bytes?.count } == [400, 0, 128])
        #expect(crash.memory?[0].bytes?.hasPrefix("0000000000000000" + "0100000000000000") == true)
    }

    @Test func aSmallFileLacksNothing() throws {
        let report = try Reader(path: Sample.golden("least.lgrun")).run()
        #expect(report.problems.isEmpty && report.standardError == nil)
        let crash = try #require(report.crash)
        #expect(crash.stages == [.header, .context, .frames, .dwarf, .messages, .done])
        #expect(crash.messages == nil && crash.threads == nil && crash.threadCounts == nil && crash.resources == nil)
        #expect(crash.memory == nil && crash.memoryMap == nil && crash.possibleFrames == nil)
        #expect(!text { report.write(to: &$0, includesMap: true) }.contains("other threads"))
    }

    @Test func damageIsNamedAndHidesNothingElse() throws {
        let folder = try TemporaryFolder()
        let golden = [UInt8](try Data(contentsOf: URL(filePath: Sample.goldenPath)))
        // A byte of each part, and the name of the part that is then not shown.
        for (section, place, part) in [
            (4, 11136 + 150, "messages"), (4, 20480 + 300, "process"), (6, 64 + 30, "other threads"), (6, 64 + 470, "stack of thread 4712"),
            (7, 40, "stack memory"),
        ] as [(UInt8, Int, String)] {
            var changed = golden
            changed[try #require(golden.offset(ofSection: section)) + place] ^= 0x10
            let report = try Reader(path: try folder.write(changed, "changed.lgrun")).run()
            #expect(report.problems.map(\.part) == [part], "at \(place)")
            #expect(report.isDamaged)
            #expect(report.crash?.stack?.frames.count == 4)
            #expect((report.crash?.messages == nil) == (part == "messages"))
            #expect(report.crash?.kind == (part == "messages" ? "abort.explicit" : "abort.cpp_exception"))
            #expect((report.crash?.threads?.count == 3) == (part == "other threads"))
        }
        #expect(try Reader(path: Sample.goldenPath).verify().isWhole)
    }

    @Test func aGoldenFileThatIsChangedAnywhereIsReadAsFarAsItIsRight() throws {
        let folder = try TemporaryFolder()
        let golden = [UInt8](try Data(contentsOf: URL(filePath: Sample.goldenPath)))
        let written = golden.indices.filter { golden[$0] != 0 }
        for draw in try Seeded.draws("SurroundingsTests/aGoldenFileThatIsChangedAnywhereIsReadAsFarAsItIsRight") {
            var random = draw
            for _ in 0..<300 {
                var changed = golden
                for _ in 0..<Int.random(in: 1...16, using: &random) {
                    changed[written.randomElement(using: &random)!] = UInt8.random(in: 0...255, using: &random)
                }
                guard let reader = try? Reader(path: try folder.write(changed, "changed.lgrun")) else { continue }
                let report = try reader.run(includingMemory: true)
                let text = text { report.write(to: &$0, breadcrumbLimit: .max, includesMap: true) }
                #expect(text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }.isEmpty)
                let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
                #expect(again == report)
            }
        }
    }

    // MARK: - JSON

    @Test func theSurroundingsHaveStableKeys() throws {
        let report = try Sample.surrounded()
        let crash = try #require(report.crash)
        #expect(crash.isSiginfoLost == true)
        #expect(crash.messages?[0].source == .swift)
        #expect(crash.messages?[1].source.rawValue == "9", "a source of a later version")
        #expect(crash.threads?[0].how == .silent && crash.threads?[0].stack == nil)
        #expect(crash.resources?["cpu_user"]?.value == 1_500_000_000)
        #expect(crash.addressMapping?.path == "/var/data")
        #expect(report.standardError?.omittedBytes == 60)
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
    }

    // MARK: - Text

    @Test func messagesStandUnderTheHeadline() throws {
        var report = try Reader(path: Sample.goldenPath).run()
        report.crash?.messages?[1].demangled = "std::runtime_error"
        report.crash?.messages?[0].text = "first\nsecond \u{1B}[2J\n\n"
        let lines = text { report.write(to: &$0) }.lines
        #expect(
            Array(lines[0..<8]) == [
                "exception of type std::runtime_error: no room for \"notes\" \\x1B[31m\u{FFFD} in parts + 0x1010 of org.example.parts", "  signal:    SIGABRT (abort.cpp_exception)",
                "  libc:      first", #"             second \x1B[2J"#, "  exception: std::runtime_error",
                "  what():    no room for \"notes\" \\x1B[31m\u{FFFD}", "             … the record had no room for the rest of this message",
                "  evidence: the run file holds a crash record",
            ])
    }

    @Test func threadsWithTheSameStackAreOneBlock() throws {
        let lines = text { try? Reader(path: Sample.goldenPath).run().write(to: &$0) }.lines
        let start = try #require(lines.firstIndex(of: "other threads"))
        #expect(
            Array(lines[start + 1..<start + 16]) == [
                "  threads 4712, 4713 (2) \"worker\", sleeping",
                "    5 frames, by DWARF unwinding; 1 frame is assumed: code without unwind tables, passed by frame pointer",
                "    #0  0x00007f0000104444 in libexample.so.1 + 0x4444", "    #1  0x0000555500002010 in parts + 0x2010",
                "    #2  0x0000555500002020 in parts + 0x2020", "    #3  0x0000555500002030 in parts + 0x2030",
                "    #4  0x0000555500002040 in parts + 0x2040", #"  thread 4714 "busy \x1B[0m", running"#,
                "    it blocks every signal: its registers and its stack are not known", "  thread 4716", "    2 frames, by frame pointers",
                "    #0  0x00007f0000104444 in libexample.so.1 + 0x4444", "    #1  0x0000555500002010 in parts + 0x2010",
                "        the walk ended early: the frame pointer chain leaves the stack", "  1 more thread did not answer within 1.234 ms",
            ])
        #expect(lines[start + 16] == "  2 more threads are not shown: the record had no room for them")
        #expect(try #require(lines.firstIndex { $0.hasPrefix("thread 4711") }) < start)
    }

    @Test func missingThreadsAreCounted() throws {
        var report = try Reader(path: Sample.goldenPath).run()
        report.crash?.threads = nil
        report.crash?.threadCounts = ThreadCounts(
            listed: 9, captured: 0, masked: 2, silent: 1, omitted: 1, listProblem: "Too many open files", waitedNanoseconds: 5_000_000)
        var lines = text { report.write(to: &$0) }.lines
        for line in [
            "  2 more threads block every signal: they could not be asked for their stacks", "  1 more thread did not answer within 5.000 ms",
            "  1 more thread is not shown: the record had no room for it", "  the list of threads is not complete: Too many open files",
        ] { #expect(lines.contains(line)) }
        report.crash?.threads = [ThreadState(threadID: 5, how: .silent)]
        report.crash?.threadCounts = nil
        lines = text { report.write(to: &$0) }.lines
        #expect(lines.contains("    it did not answer in time: its registers and its stack are not known"))
        #expect(lines.contains("  the handler ended before it had counted the threads: there may be more"))
    }

    @Test func figuresHaveUnits() throws {
        var report = try Sample.surrounded()
        let lines = text { report.write(to: &$0) }.lines
        #expect(lines.contains("  memory    resident 12.0 MiB, virtual 1.5 GiB"))
        #expect(lines.contains("  group     memory 4.0 KiB of 16.0 MiB"))
        #expect(lines.contains("  process   descriptors 12 of 1024, CPU 1.500 s user"))
        #expect(lines.contains("  system    memory pressure 1.05 % some, load 0.07, up 1 h 1 min"))
        #expect(lines.contains("  other     frobs 3 per minute"))
        report.crash?.resources = [:]
        #expect(!text { report.write(to: &$0) }.lines.contains("resources"))
    }

    @Test func standardErrorIsHarmless() throws {
        let report = try Sample.surrounded()
        var lines = text { report.write(to: &$0) }.lines
        let start = try #require(lines.firstIndex(of: "standard error"))
        #expect(Array(lines[start + 1...start + 3]) == ["  … 60 bytes before are gone", #"  last \x1B[31mwords"#, "  of it"])
        lines = text { report.write(to: &$0, breadcrumbLimit: 1) }.lines
        #expect(lines.contains("  … 1 line before not shown"))
    }

    @Test func theMapIsShownOnRequest() throws {
        var report = try Sample.surrounded()
        var text = text { report.write(to: &$0) }
        #expect(text.contains("  2 mappings, then no room for the rest (with --map)\n") && !text.contains("0x00007f0000000000–"))
        text = self.text { report.write(to: &$0, includesMap: true) }
        #expect(text.contains("  0x00007f0000000000–0x00007f0000002000  r--s  /var/data\n"))
        #expect(text.contains("  … the record had no room for the rest\n"))
        report.crash?.memoryMap = nil
        #expect(!self.text { report.write(to: &$0, includesMap: true) }.contains("memory map"))
    }

    @Test func framesThatNoWalkFoundStandApart() throws {
        var report = try Reader(path: Sample.goldenPath).run()
        let lines = text { report.write(to: &$0) }.lines
        let start = try #require(lines.firstIndex { $0.hasPrefix("  possible frames (stack scan): ") })
        #expect(lines[start + 1] == "  ?  0x0000555500003030 in parts + 0x3030")
        #expect(lines[start - 1].hasPrefix("    the walk ended early"))
        report.crash?.possibleFrames = nil
        #expect(!text { report.write(to: &$0) }.contains("possible frames"))
    }

    @Test func aRequestedDumpIsNoCrash() throws {
        var report = try Reader(path: Sample.goldenPath).run()
        report.crash?.signal = RunSignal(3)
        report.verdict?.end = .terminated
        report.verdict?.signal = RunSignal(3)
        let lines = text { report.write(to: &$0) }.lines
        #expect(lines[0] == "terminated: SIGQUIT sent by process 4711, with a dump of all threads")
        #expect(lines.contains("thread 4711 \"loader\" took the signal"))
        #expect(!lines.contains { $0.contains("\" crashed") })
    }

    @Test(arguments: [
        (0 as UInt64, "0 bytes"), (1, "1 byte"), (4095, "4095 bytes"), (4096, "4.0 KiB"), (1_572_864, "1.5 MiB"), (1 << 60, "1.0 EiB"),
        (UInt64.max, "15.9 EiB"),
    ])
    func bytes(number: UInt64, text: String) {
        #expect(number.bytesText == text)
    }

    // MARK: - Reasons

    @Test(arguments: [
        ("arithmetic overflow", "trap.swift.overflow"), ("Division by zero", "trap.swift.div0"),
        ("Unexpectedly found nil while unwrapping an Optional value", "trap.swift.nil"), ("precondition failure", "trap.swift.precondition"),
        ("Index out of range", "trap.swift.bounds"), ("something new", "trap.swift"),
    ])
    func theCompilersWordsGiveTheReason(trap: String, reason: String) throws {
        var crash = try #require(try Sample.crash().crash)
        crash.refine(trap: trap)
        #expect(crash.reason == reason && crash.message == trap && crash.kind == "fault.null_read" && crash.finestKind == reason)
        let own = OwnCode(try Sample.crash())
        #expect(crash.sentence(own).hasPrefix("\(trap) in "))
        var spoken = try #require(try Sample.surrounded().crash)
        spoken.refine(trap: trap)
        #expect(spoken.message == nil && spoken.reason == reason, "the source of a message is quoted with it")
    }

    @Test(arguments: [
        ("_dispatch_assert_queue_fail", "/lib/x.so", "trap.illegal", "trap.dispatch"), ("main", "/lib/x.so", "trap.illegal", nil),
        (nil, "/usr/lib/swift/linux/libdispatch.so", "trap.illegal", "trap.dispatch"), (nil, "/lib/x.so", "trap.breakpoint", nil),
        ("_dispatch_client_callout", "/lib/libdispatch.so", "fault.null_read", nil),
    ] as [(String?, String, String, String?)])
    func libdispatchIsKnownByItsTrap(name: String?, module: String, kind: String, reason: String?) throws {
        var crash = try #require(try Sample.crash().crash)
        crash.kind = kind
        crash.dwarfStack = Stack(
            method: .dwarf,
            frames: [Frame(address: Address(1), lookup: Address(1), module: module, symbols: name.map { [Symbol(name: $0)] })])
        crash.refine(trap: nil)
        #expect(crash.reason == reason)
    }

    private func text(_ write: (inout TextWriter) -> Void) -> String {
        var writer = TextWriter()
        write(&writer)
        return writer.text
    }
}

extension String {
    fileprivate var lines: [String] {
        split(separator: "\n").map(String.init)
    }
}
