import CLaunchGuard
import Foundation
import LaunchGuardReportModel
import Testing

/// The sentence that a support engineer reads first, for every way to end.
@Suite struct HeadlineTests {
    /// The first word for each end, whatever the evidence.
    private static func beginning(of end: RunEnd) -> [String] {
        switch end {
        case .noRun: ["none: "]
        case .clean: ["clean"]
        case .terminated: ["terminated: ", "stopped too slowly: "]
        case .crash: ["crashed"]
        case .hang: ["hung: "]
        case .oom: ["out of memory: "]
        case .killed: ["killed: "]
        case .exit: ["exit"]
        case .reboot: ["reboot: "]
        case .upgrade: ["upgrade: "]
        case .debugger: ["debugger: "]
        case .unknown: ["ended without a trace", "unknown: "]
        case .running: ["running"]
        }
    }

    @Test func everyEndWithEveryEvidenceHasASentence() throws {
        var bare = try Sample.crash()
        bare.crash = nil
        var full = bare
        full.identity?.hangSinceNanoseconds = 2_000_000_000
        full.identity?.termination?.monotonicNanoseconds = 3_000_000_000
        full.identity?.termination?.aliveNanoseconds = 12_800_000_000
        full.identity?.witness = .init(waitStatus: 9)
        full.identity?.cpuLimit = try JSONLine.value(from: #"{"usedNanoseconds":1,"limitSeconds":2,"monotonicNanoseconds":3}"#)
        full.identity?.memoryPressure = try JSONLine.value(from: #"{"usedBytes":1,"limitBytes":2,"monotonicNanoseconds":3}"#)
        var none = bare
        none.identity = nil
        for (report, end) in [bare, full, none].flatMap({ report in RunEnd.allCases.map { (report, $0) } }) {
            for evidence in Evidence.allCases.map(Optional.some) + [nil] {
                var report = report
                report.verdict = Verdict(end: end, evidence: "-", evidenceKind: evidence)
                let headline = report.headline
                #expect(Self.beginning(of: end).contains { headline.hasPrefix($0) }, "\(end), \(String(describing: evidence)): \(headline)")
                #expect(!headline.hasSuffix(".") && !headline.contains("  ") && !headline.contains("Optional"), "\(headline)")
            }
        }
    }

    /// The handler of Go's runtime returns, and the runtime prints the crash and ends.
    @Test func aCrashThatTheLastWordsNameIsTheCause() throws {
        var report = try Sample.crash()
        report.crash?.isHandled = true
        let place = try #require(report.crash?.programCounter.short)
        for (words, end, isCause) in [
            ("panic: no\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=\(place)]\n", RunEnd.exit, true),
            ("panic: no\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=\(place)0]\n", .exit, false),
            ("[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=\(place)]\n", .clean, false),
            ("panic: no\n", .exit, false),
        ] {
            report.standardError = StandardError(text: words, totalBytes: UInt64(words.utf8.count))
            report.verdict = Verdict(end: end, evidence: "-", evidenceKind: .witness)
            #expect(report.headline.contains("; the cause: ") == isCause, "\(report.headline)")
            #expect(report.headline.contains("; it survived before: ") != isCause, "\(report.headline)")
        }
    }

    @Test func aSignalOfItsOwnIsNamedSo() throws {
        var report = try Sample.crash()
        report.crash?.messages = nil
        report.crash?.message = nil
        report.crash?.what = nil
        report.crash?.kind = "signal.queued"
        report.crash?.senderUserID = 7
        for (sender, words) in [(report.identity?.processID, " sent by the program itself"), (1, " sent by process 1 of user 7")] {
            report.crash?.senderProcessID = sender
            #expect(report.headline.contains(words), "\(report.headline)")
        }
    }

    @Test func evidenceHasTheOrderOfItsValues() {
        let values: [(lg_evidence, Evidence)] = [
            (LG_EVIDENCE_NONE, .noRun), (LG_EVIDENCE_PROCESS_ALIVE, .processAlive), (LG_EVIDENCE_CRASH_NOTE, .crashNote),
            (LG_EVIDENCE_CRASH_RECORD, .crashRecord), (LG_EVIDENCE_EXIT_MARK, .exitMark), (LG_EVIDENCE_STOP_MARK, .stopMark),
            (LG_EVIDENCE_TERMINATE_MARK, .terminateMark), (LG_EVIDENCE_BOOT_DIFFERS, .bootDiffers), (LG_EVIDENCE_NO_MARK, .noMark),
            (LG_EVIDENCE_FILE_UNREADABLE, .fileUnreadable), (LG_EVIDENCE_HANDLED, .handled), (LG_EVIDENCE_CRASH_MARK, .crashMark),
            (LG_EVIDENCE_EXEC, .exec), (LG_EVIDENCE_DUMP_RECORD, .dumpRecord), (LG_EVIDENCE_TRACER, .tracer), (LG_EVIDENCE_WITNESS, .witness),
            (LG_EVIDENCE_TERMINATION_ANNOUNCED, .terminationAnnounced), (LG_EVIDENCE_RESTART_ANNOUNCED, .restartAnnounced),
            (LG_EVIDENCE_HANG_MARK, .hangMark), (LG_EVIDENCE_OOM_COUNTER, .oomCounter), (LG_EVIDENCE_STOP_TIMEOUT, .stopTimeout),
            (LG_EVIDENCE_CPU_LIMIT, .cpuLimit), (LG_EVIDENCE_DEADLINE, .deadline), (LG_EVIDENCE_NEAR_MEMORY_LIMIT, .nearMemoryLimit),
            (LG_EVIDENCE_KERNEL_LOG, .kernelLog), (LG_EVIDENCE_MEMORY_SHARE, .memoryShare), (LG_EVIDENCE_FORK, .fork),
        ]
        #expect(values.map { Int($0.0.rawValue) } == Array(0..<Evidence.allCases.count))
        #expect(values.map(\.1) == Evidence.allCases)
        let next = unsafe String(cString: lg_evidence_sentence(lg_evidence(rawValue: UInt32(Evidence.allCases.count))))
        #expect(next == "evidence that this version does not know", "the core has a value that is not here")
    }

    // MARK: - Real deaths

    /// A program whose launch was under way and that was killed at once. A test then writes marks
    /// into its file, as the program would have left them.
    private static func killed() async throws -> RecordedDeath {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let child = Child(path)
            child.launch()
            raise(SIGKILL)
        }
        return try RecordedDeath(folder: folder)
    }

    @Test func theCauseOfAKillIsNamed() async throws {
        let death = try await Self.killed()
        #expect(try death.headline() == "ended without a trace: killed, or ended without exit(); a witness would have recorded which")
        #expect(try death.report().verdict?.evidenceKind == .noMark)

        try death.put(death.after(9_000), at: 152)
        try death.put(UInt64(48_234_496), at: 160)
        try death.put(UInt64(50_331_648), at: 168)
        #expect(try death.headline() == "ended without a trace, short of memory: 46.0 MiB of 48.0 MiB were in use; what ended it is not known")

        try death.put(death.after(3_000), at: 24)
        try death.put(UInt32(812), at: 36)
        try death.put(UInt32(15), at: 32)
        #expect(try death.headline() == "terminated: SIGTERM sent by process 812")
        try death.put(UInt32(1), at: 116)
        try death.put(death.after(13_100), at: 120)
        #expect(
            try death.headline() == "stopped too slowly: asked to end by process 812 (SIGTERM), still alive 10.100 s later, then gone without a mark")
        #expect(try death.report().identity?.termination?.isKept == true)

        try death.put(death.after(4_000), at: 128)
        try death.put(UInt64(950_000_000), at: 136)
        try death.put(UInt64(1), at: 144)
        #expect(try death.headline().hasPrefix("stopped too slowly: "), "a request ends more programs than the limit")

        try death.put(death.after(1_500), at: 88)
        #expect(
            try death.headline() == "hung: its run loop stood still for at least 11.600 s, until it was ended; the last heartbeat came 1.500 s after the start")
        let text = try death.text()
        #expect(text.contains("\nnoted        SIGTERM from process 812, and was alive 10.100 s later\n"))
        #expect(text.contains("\nCPU          950.000 ms of 1 s were used after 4.000 s\n"))
        #expect(text.contains("\nmemory       46.0 MiB of 48.0 MiB were in use after 9.000 s, near the limit\n"))
        #expect(try JSONLine.value(RunReport.self, from: JSONLine.text(death.report())) == death.report())
        #expect(try JSONLine.text(death.report()).contains(#""evidenceKind":"hang-mark""#))
    }

    @Test func aWitnessAddsTheWaitStatus() async throws {
        let death = try await Self.killed()
        try death.put(UInt32(9), at: 64)
        try death.put(UInt32(1), at: 60)
        #expect(try death.headline() == "killed: ended by SIGKILL")
        try death.put(death.after(3_000), at: 24)
        try death.put(UInt32(812), at: 36)
        try death.put(UInt32(15), at: 32)
        #expect(try death.headline() == "stopped too slowly: asked to end by process 812 (SIGTERM), then killed")
        try death.put(death.after(13_100), at: 120)
        #expect(try death.headline() == "stopped too slowly: asked to end by process 812 (SIGTERM), still alive 10.100 s later, then killed")
        try death.put(death.after(1_500), at: 88)
        #expect(try death.headline().hasSuffix("until it was killed; the last heartbeat came 1.500 s after the start"))
        try death.put(UInt32(127 << 8), at: 64)
        #expect(try death.headline() == "exit: exit status 127, with which the loader ends a program that lacks a function")
        try death.put(UInt32(14), at: 64)
        #expect(try death.headline() == "crashed: SIGALRM, and left no record")
        try death.put(UInt32(0), at: 64)
        #expect(try death.headline() == "clean: exit status 0")
    }

    @Test func aNotedCrashIsNamed() async throws {
        let death = try await Self.killed()
        try death.put(death.after(2_000), at: 192)
        #expect(try death.headline() == "crashed: by its own word, and left no record")
        try death.put(UInt64(0x72_7245_6570_7954), at: 200)
        #expect(try death.headline() == "crashed: TypeErr, by its own word, and left no record")
        #expect(try death.report().verdict?.evidenceKind == .crashNote)
        #expect(try death.text().contains("\nnoted        that it had crashed (TypeErr), after 2.000 s\n"))
    }

    @Test func aRebootIsNamed() async throws {
        let death = try await Self.killed()
        var identity = try death.bytes(at: 512, count: 632)
        identity[16] ^= 0xFF  // of the boot id
        try death.write(identity, at: 512)
        try death.write(littleEndian(crc32c(identity)), at: 512 + 632)
        #expect(try death.headline() == "reboot: the machine was started again while it ran")
        try death.put(death.after(3_000), at: 24)
        try death.put(UInt32(15), at: 32)
        try death.put(death.after(5_000), at: 120)
        #expect(
            try death.headline()
                == "reboot: the machine was started again while it ran, after it had been asked to end (SIGTERM), still alive 2.000 s later")
        try death.put(UInt32(1), at: 32)  // a SIGHUP was no request to end
        #expect(try death.headline() == "reboot: the machine was started again while it ran")
    }

    /// CRC-32C, bit by bit.
    private func crc32c(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
        }
    }
}

private func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// The run file of a process that has ended.
private struct RecordedDeath {
    let folder: TemporaryFolder
    let path: String
    let started: UInt64

    init(folder: TemporaryFolder) throws {
        self.folder = folder
        path = try #require(try StateDirectory(path: folder.path).runPaths().last)
        started = try #require(try Reader(path: path).run().identity).monotonicNanoseconds
    }

    func report() throws -> RunReport { try Reader(path: path).run() }

    func headline() throws -> String { try report().headline }

    func text() throws -> String {
        var writer = TextWriter()
        try report().write(to: &writer)
        return writer.text
    }

    /// This many milliseconds after the start.
    func after(_ milliseconds: UInt64) -> UInt64 { started + milliseconds * 1_000_000 }

    /// Change a field of the state: docs/FORMAT.md, section 5.
    func put(_ value: some FixedWidthInteger, at offset: UInt64) throws {
        try write(littleEndian(value), at: try start(ofSection: 2) + offset)
    }

    /// Where a section begins, by the header: docs/FORMAT.md, section 3.
    func start(ofSection kind: UInt32) throws -> UInt64 {
        let header = try Data(contentsOf: URL(filePath: path)).prefix(512)
        func number<Number: FixedWidthInteger>(at place: Int) -> Number {
            header[place..<place + MemoryLayout<Number>.size].reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
        let entries = (0..<Int(number(at: 28) as UInt32)).map { 64 + 24 * $0 }
        return number(at: try #require(entries.first { number(at: $0) == kind }) + 8)
    }

    func write(_ bytes: [UInt8], at offset: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        try file.write(contentsOf: bytes)
    }

    func bytes(at offset: UInt64, count: Int) throws -> [UInt8] {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        return Array(try file.read(upToCount: count) ?? Data())
    }
}
