import Foundation
import LaunchGuardReportModel
import Testing

@testable import LaunchGuardSymbols

@Suite struct AsyncChainTests {
    @Test(arguments: [
        ("$s4main5innerySiSiYaF", true), ("$s4main5innerySiSiYaFTY0_", true), ("$s4main5innerySiSiYaKFTQ1_", true), ("async_Main", true),
        ("async_MainTQ0_", true), ("$sIetH_yts5Error_pIegHrzo_TR", true), ("$s4main1MVAAyyYaFZSiyYacfU0_TA", true),
        // A closure inside an asynchronous function, and that function's pointer.
        ("$s4main5outeryyYaFyycfU_", false), ("$s4main5outeryyYaFTu", false), ("$s4main4boomyySiF", false), ("main", false), ("_Z3foov", false),
        ("$sScIsE4next9isolation7ElementQzSgScA_pSgYi_tYa7FailureQzYKF", true), ("$ss13_runAsyncMainyyyyYaKcF", false), ("", false),
    ])
    func aLinkerNameTellsWhetherItsFunctionIsAsynchronous(name: String, isAsync: Bool) {
        #expect(Demangler(program: nil).asynchronous(among: [name, "$s4main4boomyySiF"]) == (isAsync ? [name] : []))
    }

    @Test(arguments: [
        ("main.f() async -> ()", true), ("main.f<A where A: main.P>(A) async throws(main.E) -> A", true), ("main.f(() async -> ()) -> ()", false),
        ("main.f() -> () async -> ()", false), ("closure #1 () -> () in main.f() async -> ()", false), ("closure #1 () async -> () in main.f() -> ()", true),
        ("default argument 0 of main.f(Swift.Int) async -> ()", false), ("generic specialization <Swift.Int> of main.f<A>(A) async -> ()", true),
        ("function signature specialization <Arg[0] = Dead> of static main.M.main() async -> ()", true),
        ("protocol witness for main.P.f() async -> () in conformance main.S : main.P in main", true), ("main.S.work.getter : () async -> ()", false),
        ("partial apply forwarder for closure #1 () async -> () in main.f() -> ()", true), ("(2) await resume partial function for main.x.getter : Swift.Int", true),
        ("(extension in main):Swift.Int.f() async -> ()", true), ("main.< infix(main.A, main.A) async -> ()", false),
    ])
    func theWordsOfTheDemanglerTellIt(name: String, isAsync: Bool) {
        #expect(AsyncName.isAsync(name) == isAsync)
    }

    /// The crash of the sample, whose second frame has a chain.
    private func crashed(isAsync: Bool?) throws -> RunReport {
        var run = try Sample.surrounded()
        let frames = try #require(run.crash?.framePointerStack?.frames)
        let callers = ["outer(_:)", "async\u{1B}[31mMain"].map {
            Frame(address: Address(0x5581_c61b_8000), lookup: Address(0x5581_c61b_8000), module: Sample.module.path, symbols: [Symbol(name: $0, offset: 0)])
        }
        run.crash?.asyncChains = [AsyncChain(frame: frames[1], number: 7, callers: callers, isTruncated: true, isAsync: isAsync)]
        return run
    }

    private func text(_ run: RunReport) -> String {
        var writer = TextWriter()
        run.write(to: &writer)
        return writer.text
    }

    @Test func callersComeAfterTheStack() throws {
        let run = try crashed(isAsync: true)
        let lines = text(run).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let first = try #require(lines.firstIndex(of: "… the functions that await #1 …"))
        #expect(lines[first + 1].hasPrefix("#93 ") && lines[first + 1].contains("[async] 0x00005581c61b8000 in outer(_:) + 0"))
        #expect(lines[first + 2].hasPrefix("#94 ") && lines[first + 2].contains(#"in async\x1B[31mMain"#))
        #expect(lines[first + 3] == "… further functions are not stored …")
        let page = HTMLPage(run).text
        #expect(page.contains("#93 [async]") && page.contains("the functions that await #1") && !page.contains("\u{1B}"))
        let frames = try #require(SwiftCrashLog(run)).threads[0].frames
        #expect(frames.suffix(3).map(\.kind) == ["asyncResumePoint", "asyncResumePoint", "truncated"])
        #expect(frames.suffix(3).map(\.description) == ["outer(_:)", "async\u{1B}[31mMain", nil])
    }

    /// Threads with the same stack are shown as one only where the same functions wait for them.
    @Test func otherThreadsHaveTheirOwn() throws {
        var run = try crashed(isAsync: true)
        let chain = try #require(run.crash?.asyncChains)
        run.crash?.asyncChains = nil
        let stack = Stack(method: .dwarf, frames: [chain[0].frame])
        run.crash?.threads = (1...4).map { ThreadState(threadID: $0, how: .captured, stack: stack) }
        run.crash?.threads?[2].asyncChains = chain
        run.crash?.threads?[3].asyncChainsOmitted = 1
        let lines = text(run).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.contains("threads 1, 2 (2)"))
        let first = try #require(lines.firstIndex(of: "thread 3"))
        #expect(lines[first + 3] == "… the functions that await #7 …")
        #expect(lines[first + 4].hasPrefix("#1 ") && lines[first + 4].contains("[async] 0x00005581c61b8000 in outer(_:) + 0"))
        let last = try #require(lines.firstIndex(of: "thread 4"))
        #expect(lines[last + 3] == "1 frame may have asynchronous callers that found no room in the record")
        #expect(HTMLPage(run).text.contains("#1 [async]"))
        let log = try #require(SwiftCrashLog(run)).threads.map { $0.frames.filter { $0.kind == "asyncResumePoint" }.count }
        #expect(log == [0, 0, 0, 2, 0])
    }

    @Test(arguments: [false, nil]) func whatMayBeCallersIsNotShown(isAsync: Bool?) throws {
        let run = try crashed(isAsync: isAsync)
        #expect(!text(run).contains("[async]") && !text(run).contains("outer(_:)"))
        #expect(!HTMLPage(run).text.contains("[async]"))
        #expect(try #require(SwiftCrashLog(run)).threads[0].frames.allSatisfy { $0.kind != "asyncResumePoint" })
    }

    /// A task that waits has no other stack.
    @Test func theFunctionsOfATaskAreMarked() throws {
        var run = try Sample.surrounded()
        run.crash?.threads?[1].how = .task
        run.crash?.threads?[1].stack?.method = .async
        let said = text(run)
        #expect(said.contains("its task waits, and no thread runs it") && said.contains("1 frame, by the contexts of its task"))
        #expect(said.contains("#0  [async] 0x00005581c61b6000") && HTMLPage(run).text.contains("#0 [async]"))
        #expect(try #require(SwiftCrashLog(run)).threads.last?.frames.map(\.kind) == ["asyncResumePoint"])
    }

    @Test func aLossIsSaid() throws {
        var run = try Sample.surrounded()
        run.crash?.asyncChainsOmitted = 2
        let words = "2 frames may have asynchronous callers that found no room in the record"
        #expect(text(run).contains(words) && HTMLPage(run).text.contains(words))
    }

    /// The golden file has chains of frames whose modules are nowhere.
    @Test func withoutSymbolsItIsNotKnown() throws {
        let path = Sample.root.appending(path: "Tests/Golden/async.lgrun").path
        var report = try Reader(path: path).run()
        try Symbolicator().symbolicate(&report)
        let chains = try #require(report.crash?.asyncChains)
        #expect(chains.map(\.number) == [1, 70000, 4] && chains.map(\.callers.count) == [3, 1, 2] && chains.map(\.isTruncated) == [false, true, false])
        #expect(chains.allSatisfy { $0.isAsync == nil } && report.crash?.asyncChainsOmitted == 2 && report.crash?.stages.last == .async)
        let thread = try #require(report.crash?.threads?.first)
        #expect(thread.asyncChains?.map(\.number) == [2, 3] && thread.asyncCallers.isEmpty && thread.asyncChainsOmitted == 7)
        #expect(chains[0].callers[0].lookup == chains[0].callers[0].address && chains[0].frame.lookup.value == chains[0].frame.address.value - 1)
    }
}
