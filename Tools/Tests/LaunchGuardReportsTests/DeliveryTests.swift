import Foundation
import LaunchGuardReportModel
import Testing

/// The reports of a spool, as the library reads them and as `list` and `inspect` show them.
@Suite struct DeliveryTests {
    @Test func everyStateIsRead() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path)
        #expect(try directory.deliveries().isEmpty, "there is no spool")
        try folder.makeSpool()
        #expect(try directory.deliveries().isEmpty)
        let pending = SpooledReport(
            ordinal: 4, attempts: 3, httpStatus: 503, nextNanoseconds: SpooledReport.madeNanoseconds + 9, more: 5, error: "the server answered 503")
        try folder.add(pending, to: "new")
        try folder.add(SpooledReport(ordinal: 2, end: 6), to: "sent")
        try folder.add(SpooledReport(ordinal: 3, attempts: 1, httpStatus: 401, error: "refused"), to: "held")
        try folder.add(SpooledReport(runUUID: UUID(), ordinal: 1, end: 12), to: "dead")
        let moment = SpooledReport.madeNanoseconds + 60_000_000_000
        try folder.add(SpooledReport(ordinal: 5, settledNanoseconds: moment, toldNanoseconds: moment + 1), to: "sent")
        let later = UInt64(Date.now.timeIntervalSince1970 + 3600) * 1_000_000_000
        try folder.add(SpooledReport(ordinal: 6, nextNanoseconds: later), to: "new")
        var entries = try directory.deliveries()
        #expect(entries[5].pause == .paced && entries[5].next == Timestamp(nanoseconds: later) && entries[3].pause == nil)
        #expect(entries[4].state == .told && entries[4].settled == Timestamp(nanoseconds: moment) && entries[4].told == Timestamp(nanoseconds: moment + 1))
        entries.removeLast(2)
        #expect(entries.map(\.state) == [.dead, .sent, .held, .pending])
        #expect(entries.map(\.end) == [.running, .killed, .crash, .crash])
        #expect(entries[0].uuid != entries[0].runUUID && entries[1].uuid == entries[1].runUUID)
        #expect(entries[0].attempts == 0 && entries[0].httpStatus == nil && entries[0].attempted == nil && entries[0].next == nil && entries[0].error == nil)
        let made = Timestamp(nanoseconds: SpooledReport.madeNanoseconds)
        #expect(entries[3].uuid == pending.uuid.uuidString.lowercased() && entries[3].ordinal == 4 && entries[3].made == made)
        #expect(entries[3].fingerprint == "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")
        #expect(entries[3].attempts == 3 && entries[3].httpStatus == 503 && entries[3].more == 5 && entries[3].error == "the server answered 503")
        #expect(entries[3].attempted == Timestamp(nanoseconds: made.nanoseconds + 1) && entries[3].next == Timestamp(nanoseconds: made.nanoseconds + 9))
        #expect(try entries.map { try JSONLine.value(from: JSONLine.text($0)) } == entries)
    }

    @Test func thereMayBeMany() throws {
        let folder = try TemporaryFolder()
        try folder.makeSpool()
        for ordinal in 1...150 as ClosedRange<UInt64> { try folder.add(SpooledReport(ordinal: ordinal), to: "new") }
        #expect(try StateDirectory(path: folder.path).deliveries().map(\.ordinal) == Array(1...150))
    }

    @Test func aLinkIsNoSpool() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try other.makeSpool()
        try other.add(SpooledReport(), to: "new")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/spool", withDestinationPath: other.path + "/spool")
        #expect(throws: ReportError.self) { try StateDirectory(path: folder.path).deliveries() }
        #expect(try Tool.run(["upload", folder.path]).status == 1)
    }

    @Test func damageHidesNoOtherReport() async throws {
        let state = try await RecordedState.make()
        try state.folder.makeSpool()
        let (whole, damaged, cut) = (SpooledReport(uuid: try state.runUUID), SpooledReport(ordinal: 7), SpooledReport(ordinal: 8))
        try state.folder.add(whole, to: "sent")
        var bytes = damaged.bytes
        bytes[100] ^= 1
        try state.folder.write(bytes, "spool/new/\(damaged.name)")
        try state.folder.write(cut.bytes.dropLast(), "spool/new/\(cut.name)")
        try state.folder.write(Array("nonsense".utf8), "spool/new/nonsense")
        let entries = try state.directory.deliveries()
        #expect(entries.first { $0.uuid == whole.uuid.uuidString.lowercased() }?.state == .sent)
        for report in [damaged, cut] {
            let entry = try #require(entries.first { $0.uuid == report.uuid.uuidString.lowercased() })
            #expect(entry.state == .dead && entry.error == "damaged" && entry.ordinal == report.ordinal)
            #expect(entry.runUUID == nil && entry.end == nil && entry.made == nil && entry.fingerprint == nil)
        }
        #expect(entries.count == 3)
        let list = try Tool.run(["list", state.folder.path])
        #expect(list.status == 0 && list.errors.isEmpty && list.output.contains(#/ crash  sent/#))
        try state.folder.write(whole.bytes.dropLast(), "spool/sent/\(whole.name)")
        #expect(try Tool.run(["list", state.folder.path]).output.contains(#/ crash  dead  .*\(damaged\)\n/#))
    }

    @Test func aListShowsTheStateOfEachReport() async throws {
        let state = try await RecordedState.make()
        #expect(!(try Tool.run(["list", state.folder.path])).output.contains("pending"))
        try state.folder.makeSpool()
        let uuid = try state.runUUID
        try state.folder.add(SpooledReport(uuid: uuid, attempts: 3, more: 4, error: "connection \u{1B}[31mrefused"), to: "new")
        let list = try Tool.run(["list", "--no-symbols", state.folder.path])
        let lines = list.output.split(separator: "\n")
        let crashed = try #require(lines.first { $0.contains(" crash ") })
        #expect(crashed.contains("  pending  ") && crashed.hasSuffix(#"  (3 attempts: connection \x1B[31mrefused; stands for 4 more)"#))
        #expect(lines.filter { $0.contains("pending") }.count == 1)
        let runs = try Tool.run(["list", "--json", state.folder.path]).output.split(separator: "\n").map { try JSONLine.value(Listed.self, from: String($0)) }
        #expect(runs.map(\.ordinal) == [2, 1] && runs[0].delivery?.map(\.state) == [.never])
        #expect(runs[1].delivery == (try state.directory.deliveries()))
    }

    @Test func inspectShowsTheReportsOfARun() async throws {
        let state = try await RecordedState.make()
        try state.folder.makeSpool()
        let uuid = try state.runUUID
        let asked = SpooledReport(runUUID: uuid, ordinal: 1, end: 12)
        try state.folder.add(SpooledReport(uuid: uuid, attempts: 1, httpStatus: 403), to: "held")
        try state.folder.add(asked, to: "sent")
        try state.folder.add(SpooledReport(ordinal: 2), to: "new")
        for arguments in [[state.runPath], ["--run", "1", state.folder.path]] {
            let text = try Tool.run(["inspect"] + arguments).output
            #expect(text.contains("\ndelivery     held; 1 attempt: HTTP status 403\n"))
            #expect(text.contains("\ndelivery     sent; report \(asked.uuid.uuidString.lowercased()), which the run asked for\n"))
            #expect(!text.contains("pending"))
        }
        let json = try Tool.run(["inspect", "--json", state.runPath]).output
        let entries = try JSONLine.value(Listed.self, from: json).delivery
        #expect(Set(entries?.map(\.state) ?? []) == [.held, .sent])
        #expect(try JSONLine.value(RunReport.self, from: json).crash != nil, "it is still the report of the run")
        let copy = try state.folder.write([UInt8](try Data(contentsOf: URL(filePath: state.runPath))), "elsewhere/copy.lgrun")
        #expect(!(try Tool.run(["inspect", copy])).output.contains("delivery"))
    }

    /// A run without a report says why, in a word of the list and in a sentence.
    @Test func aRunWithoutAReportSaysWhy() async throws {
        let state = try await RecordedState.make()
        #expect(!(try Tool.run(["inspect", state.runPath])).output.contains("\ndelivery"), "no program asks for reports")
        try state.folder.makeSpool()
        func shows(_ sentence: String, _ line: Int = #line) throws {
            let text = try Tool.run(["inspect", state.runPath]).output
            #expect(text.contains("\ndelivery     \(sentence)\n"), "line \(line): \(text)")
            let word = sentence.prefix { $0 != ";" }
            #expect(try Tool.run(["list", "--no-symbols", state.folder.path]).output.contains("  crash  \(word)  "), "line \(line)")
        }
        try shows("owed; no agent lives")
        let agent = try LivingAgent(state.folder)
        #expect(try Tool.run(["inspect", state.runPath]).output.contains("\ndelivery     owed\n"))
        agent.end()
        try state.folder.write([], "spool/off")
        try shows("never; delivery is switched off")
        try FileManager.default.removeItem(atPath: state.folder.path + "/spool/off")
        try state.folder.write(Array("given 2\n".utf8), "spool/consent")
        try shows("never; the user had not consented")
        try state.folder.write(Array("none 1\n".utf8), "spool/consent")
        try shows("never; the user withholds consent")
        try FileManager.default.removeItem(atPath: state.folder.path + "/spool/consent")
        try shows("owed; the user has not consented yet")
        try state.folder.write(Array("given 1\n".utf8), "spool/consent")
        try state.folder.write(Array("launchguard-delivery 1\ntarget=http\nends=hang,killed\n".utf8), "spool/config")
        try shows("never; no report is asked for such an end")
        let words: [(UInt32, String)] = [
            (1, "never; no report is asked for such an end"), (2, "dead; its report is gone from the spool"), (3 | 7 << 8, "counted; in the report of run 7"),
            (4, "never; the user had not consented"), (5, "sent; its report has given way to a new one"), (6, "dead; its report has given way to a new one"),
        ]
        for (word, sentence) in words {
            try state.put(word, at: 252)
            try shows(sentence)
        }
        let json = try Tool.run(["inspect", "--json", state.runPath]).output
        let entry = try #require(try JSONLine.value(Listed.self, from: json).delivery?.first)
        #expect(entry.state == .dead && entry.reason == "its report has given way to a new one" && entry.end == .crash && entry.runUUID == entry.uuid)
        // A report says more than the word.
        try state.folder.add(SpooledReport(uuid: try state.runUUID, settledNanoseconds: SpooledReport.madeNanoseconds), to: "sent")
        #expect(try Tool.run(["inspect", state.runPath]).output.contains("\ndelivery     sent; at 2026-"))
    }

    @Test func inspectShowsTheSpool() async throws {
        let state = try await RecordedState.make()
        #expect(!(try Tool.run(["inspect", state.folder.path])).output.contains("delivery"))
        try state.folder.makeSpool(endpoint: "https://hidden@reports.example.org:8443/secret?token=hidden")
        for (ordinal, folder) in zip(1..., ["new", "new", "sent", "dead"]) { try state.folder.add(SpooledReport(ordinal: UInt64(ordinal)), to: folder) }
        let text = try Tool.run(["inspect", state.folder.path])
        let section = """

            delivery
              reports   2 pending, 1 sent, 1 dead
              target    http, reports.example.org:8443
              consent   given
              agent     none lives

            """
        #expect(text.status == 0 && text.output.hasSuffix(section), "\(text.output)")
        let json = try Tool.run(["inspect", "--json", state.folder.path]).output
        #expect(!text.output.contains("hidden") && !text.output.contains("secret") && !json.contains("hidden") && !json.contains("secret"))
        let spool = try #require(try JSONLine.value(InspectedSpool.self, from: json).delivery)
        #expect(spool.pending == 2 && spool.sent == 1 && spool.held == 0 && spool.dead == 1 && spool.hasConsent && !spool.isOff)
        #expect(spool.agentProcessID == nil && spool.host == "reports.example.org:8443")
        #expect(try JSONLine.value(LedgerReport.self, from: json).appID == "org.example.reports")

        try state.folder.write([], "spool/off")
        try state.folder.write(Array("none 3\n".utf8), "spool/consent")
        try state.folder.write([], "spool/config")
        let agent = try LivingAgent(state.folder)
        let later = try Tool.run(["inspect", state.folder.path]).output
        #expect(later.contains("\n  target    none\n  consent   not given\n  agent     process \(getpid())\n            switched off by \(state.folder.path)/spool/off\n"))
        agent.end()
        #expect(try Tool.run(["inspect", state.folder.path]).output.contains("  agent     none lives\n"))
    }

    private struct Listed: Decodable {
        var ordinal: UInt64?
        var delivery: [DeliveryEntry]?
    }

    private struct InspectedSpool: Decodable {
        var delivery: Spool?
    }
}

extension RecordedState {
    /// Change a word of the state of the run that crashed: docs/FORMAT.md, section 5.
    func put(_ word: UInt32, at offset: Int) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: runPath)))
        let start = try #require(bytes.offset(ofSection: 2)) + offset
        bytes.replaceSubrange(start..<start + 4, with: unsafe withUnsafeBytes(of: word.littleEndian) { unsafe Array($0) })
        try Data(bytes).write(to: URL(filePath: runPath))
    }

    /// UUID of the run that crashed.
    var runUUID: UUID {
        get throws {
            let uuid = try Reader(path: runPath).run().identity?.uuid
            return try #require(uuid.flatMap(UUID.init(uuidString:)))
        }
    }
}

/// Holds the lock of an agent.
final class LivingAgent {
    private let file: FileHandle

    init(_ folder: TemporaryFolder) throws {
        file = try FileHandle(forUpdating: URL(filePath: try folder.write(Array("\(getpid()) 0.1.0\n".utf8), "spool/agent")))
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let ofdSetLock: Int32 = 37
        try #require(unsafe fcntl(file.fileDescriptor, ofdSetLock, &lock) == 0)
    }

    func end() { try? file.close() }
}
