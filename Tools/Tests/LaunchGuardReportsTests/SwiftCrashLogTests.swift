import Foundation
import LaunchGuardReportModel
import Testing

@Suite struct SwiftCrashLogTests {
    @Test func theShapeIsThatOfTheRuntime() throws {
        var run = try Sample.surrounded()
        run.crash?.framePointerStack = Stack(
            method: .framePointers,
            frames: [
                Frame(
                    address: Address(0x5581_c61b_6581), lookup: Address(0x5581_c61b_6581), module: "/opt/notes/notes",
                    symbols: [
                        Symbol(name: "Array.subscript.getter", mangledName: "$sSayxSicig", isInlined: true),
                        Symbol(name: "Notes.open()", offset: 129, file: "Notes.swift", line: 42),
                    ]),
                Frame(address: Address(0x5581_c61b_7001), lookup: Address(0x5581_c61b_7000), module: "/opt/notes/notes", symbols: [Symbol(name: "main", offset: 9)]),
            ])
        run.crash?.dwarfStack = nil
        run.fingerprint = "0123"
        let log = try #require(SwiftCrashLog(run))
        #expect(log.timestamp == "2026-01-31T12:00:01.402000Z" && log.description == "Bad pointer dereference" && log.launchguard.fingerprint == "0123")
        let frames = log.threads[0].frames
        #expect(frames.map(\.kind) == ["programCounter", "programCounter", "returnAddress"] && frames.map(\.inlined) == [true, nil, nil])
        #expect(frames.map(\.description) == ["Array.subscript.getter", "Notes.open() + 129", "main + 8"] && frames.map(\.offset) == [0, 129, 8])
        #expect(frames.map(\.symbol) == ["$sSayxSicig", "Notes.open()", "main"] && frames.allSatisfy { $0.image == "notes" })
        #expect(frames[1].sourceLocation?.line == 42 && frames[1].sourceLocation?.column == 0 && frames[2].sourceLocation == nil)
        #expect(log.threads.map(\.crashed).compactMap(\.self) == [true] && log.threads.count > 1)
        run.crash?.isHandled = true
        #expect(SwiftCrashLog(run) == nil, "the program survived it")
    }

    @Test func impossibleFiguresAreALogToo() throws {
        var run = try Sample.surrounded()
        run.crash?.framePointerStack?.frames[1].lookup = Address(0)
        run.crash?.framePointerStack?.frames[1].symbols = [Symbol(name: "evil\"\n\u{1B}[31m\u{202E}", offset: 1)]
        run.crash?.framePointerStack?.innermost = 0
        run.crash?.memoryMap?.mappings[0].end = Address(UInt64.max)
        run.modules? += [Sample.module]
        let log = try #require(SwiftCrashLog(run))
        #expect(log.threads[0].frames.contains { $0.kind == "omittedFrames" && $0.count == 90 })
        #expect(log.threads[0].frames.last?.kind == "truncated")
        #expect(try JSONSerialization.jsonObject(with: Data(log.text.utf8)) is [String: Any])
        #expect(SwiftCrashLog(RunReport(path: "damaged.lgrun")) == nil)
    }
}
