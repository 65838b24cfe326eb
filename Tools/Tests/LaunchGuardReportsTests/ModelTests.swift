import LaunchGuardReportModel
import Testing

@Suite struct ModelTests {
    @Test func reportsSurviveJSON() throws {
        let report = try Sample.crash()
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
        #expect(report.crash?.framePointerStack?.frames[0].symbols?[1].line == 42)
        #expect(report.breadcrumbs?.entries[1].level == Level(rawValue: 35))

        let ledger = try Sample.ledger()
        let ledgerAgain: LedgerReport = try JSONLine.value(from: JSONLine.text(ledger))
        #expect(ledgerAgain == ledger)
    }

    @Test func everythingButTheFrameMayBeMissing() throws {
        let report: RunReport = try JSONLine.value(from: #"{"schema":1,"type":"run","path":"x","problems":[]}"#)
        #expect(report == RunReport(path: "x"))
        #expect(JSONLine.text(report) == #"{"path":"x","problems":[],"schema":1,"type":"run"}"#)
    }

    @Test(arguments: [
        (0, "0x0000000000000000", "0x0"), (0x5581_c61b_6581, "0x00005581c61b6581", "0x5581c61b6581"),
        (UInt64.max, "0xffffffffffffffff", "0xffffffffffffffff"),
    ])
    func addresses(value: UInt64, long: String, short: String) throws {
        #expect(Address(value).description == long)
        #expect(Address(value).short == short)
        #expect(JSONLine.text(Address(value)) == "\"\(long)\"")
        #expect(try JSONLine.value(Address.self, from: "\"\(short)\"") == Address(value))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000000Z"), (951_782_400_000_000_001, "2000-02-29T00:00:00.000000001Z"),
        (1_709_251_199_999_999_999, "2024-02-29T23:59:59.999999999Z"), (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
        (UInt64.max, "2554-07-21T23:34:33.709551615Z"),
    ])
    func times(nanoseconds: UInt64, text: String) {
        #expect(Timestamp(nanoseconds: nanoseconds).description == text)
        if nanoseconds < UInt64.max { #expect(Timestamp(text)?.nanoseconds == nanoseconds) }
    }

    @Test(arguments: ["", "2026-01-31", "2026-13-31T12:00:00.000000000Z", "2026-01-31T12:00:00.000000000+", "2026-01-31T24:00:00.000000000Z"])
    func textThatIsNoTime(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func momentsOfTheRunGetWallClockTimes() throws {
        var report = try Sample.crash()
        #expect(report.time(monotonic: 1_000_000_000)?.description == "2026-01-31T12:00:00.000000001Z")
        #expect(report.time(monotonic: 999_999_999)?.description == "2026-01-31T12:00:00.000000000Z")
        #expect(report.time(monotonic: 2_500_000_000)?.description == "2026-01-31T12:00:01.500000001Z")
        #expect(report.time(monotonic: .max) == nil, "a hostile time must not overflow")
        #expect(report.durationNanoseconds == 1_402_000_000)
        report.identity?.started = nil
        #expect(report.time(monotonic: 2_500_000_000) == nil)
    }

    @Test func signalsHaveNames() {
        #expect(RunSignal(11).name == "SIGSEGV")
        #expect(RunSignal(36).name == "SIGRTMIN+2")
        #expect(RunSignal(99).name == "signal 99")
        #expect(RunSignal(11).codeName(1) == "SEGV_MAPERR")
        #expect(RunSignal(8).codeName(1) == "FPE_INTDIV")
        #expect(RunSignal(6).codeName(-6) == "SI_TKILL")
        #expect(RunSignal(11).codeName(77) == nil)
    }

    @Test func theDWARFWalkIsPreferredUnlessItIsWorse() throws {
        func stack(_ method: Stack.Method, _ count: Int, isTruncated: Bool) -> Stack {
            Stack(
                method: method, frames: (0..<count).map { Frame(address: Address(UInt64($0)), lookup: Address(UInt64($0))) },
                isTruncated: isTruncated)
        }
        func chosen(_ dwarf: Stack?, _ framePointers: Stack?) throws -> Stack.Method? {
            var crash = try #require(try Sample.crash().crash)
            crash.dwarfStack = dwarf
            crash.framePointerStack = framePointers
            return crash.stack?.method
        }
        #expect(try chosen(nil, nil) == nil)
        #expect(try chosen(nil, stack(.framePointers, 3, isTruncated: true)) == .framePointers)
        #expect(try chosen(stack(.dwarf, 3, isTruncated: false), nil) == .dwarf)
        #expect(try chosen(stack(.dwarf, 3, isTruncated: false), stack(.framePointers, 9, isTruncated: true)) == .dwarf)
        #expect(try chosen(stack(.dwarf, 3, isTruncated: true), stack(.framePointers, 9, isTruncated: true)) == .framePointers)
        #expect(try chosen(stack(.dwarf, 9, isTruncated: true), stack(.framePointers, 3, isTruncated: false)) == .dwarf)
        #expect(try chosen(stack(.dwarf, 0, isTruncated: false), stack(.framePointers, 3, isTruncated: false)) == .framePointers)
    }
}
