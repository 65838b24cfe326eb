import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// The thread with the heartbeat of the main actor, in programs of their own: a test does not own
/// the main thread.
@Suite struct WatchTests {
    @Test(arguments: ["dispatch", "runloop", "unserved", "blocked"])
    func theMainActorBeatsWhereItIsServed(how: String) throws {
        let scene = try Scene()
        let (process, said) = try probe(scene, how)
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(said)")
        #expect(try scene.runs().last?.verdict?.end == .clean, "the watch does not keep a program from its end")
    }

    /// The job is busy for good, and the process is killed.
    @Test(arguments: ["hangs-runloop", "hangs-dispatch"])
    func aMainActorThatIsBusyHangs(how: String) throws {
        let scene = try Scene()
        let (process, said) = try probe(scene, how)
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL, "\(said)")
        var report = try #require(try scene.runs().last)
        #expect(report.verdict?.end == .hang && report.verdict?.evidenceKind == .hangMark)
        #expect(report.headline.hasPrefix(how == "hangs-runloop" ? "hung: its main thread stood still" : "hung: its main actor stood still"), "\(report.headline)")
        let snapshot = try #require(report.snapshots?.first)
        let first = try #require(snapshot.threads?.first)
        #expect(snapshot.kind == .hang && snapshot.threadID == first.threadID)
        // The main thread where it serves the queue; else the thread that waits for an answer.
        #expect((first.threadID == report.identity?.processID) == (how == "hangs-runloop"))
        #expect((first.name == "main actor") == (how == "hangs-dispatch"))
        try nameBusyFunction(in: &report)
        let busy = report.snapshots?.first?.threads?.filter { thread in
            thread.stack?.frames.contains { $0.symbols?.first?.name == "keepTheMainActorBusy()" } == true
        }
        #expect(busy?.count == 1 && (busy?.first?.threadID == first.threadID) == (how == "hangs-runloop"), "\(said)")
        if how == "hangs-runloop" && Sanitizer.keepsLoopsInnermost { #expect(report.headline.contains(" in ") && report.headline.contains("keepTheMainActorBusy()"), "\(report.headline)") }
    }

    /// Names the function of the program that never ends, in the frames of the hang.
    private func nameBusyFunction(in report: inout RunReport) throws {
        let symbols = try said(by: "/usr/bin/env", ["nm", "-S", Self.program.path]).said.split(separator: "\n").map { $0.split(separator: " ") }
        let ranges = symbols.filter { $0.count == 4 && $0[3].contains("keepTheMainActorBusy") }.compactMap { fields in
            UInt64(fields[0], radix: 16).flatMap { start in UInt64(fields[1], radix: 16).map { start..<start + $0 } }
        }
        #expect(!ranges.isEmpty)
        for thread in report.snapshots?.first?.threads?.indices ?? 0..<0 {
            for frame in report.snapshots?[0].threads?[thread].stack?.frames.indices ?? 0..<0 {
                guard let found = report.snapshots?[0].threads?[thread].stack?.frames[frame], found.module == Self.program.path,
                    let address = found.fileAddress?.value, ranges.contains(where: { $0.contains(address) })
                else { continue }
                report.snapshots?[0].threads?[thread].stack?.frames[frame].symbols = [Symbol(name: "keepTheMainActorBusy()")]
            }
        }
    }

    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "main-actor-probe")

    /// Run the program to its end. Its alarm bounds the time.
    private func probe(_ scene: Scene, _ how: String) throws -> (process: Process, said: String) {
        try said(by: Self.program.path, [scene.directory + "/state", how])
    }

    private func said(by program: String, _ arguments: [String]) throws -> (process: Process, said: String) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process, said)
    }

    /// The pool never runs a task for the watch.
    @Test func aPoolThatIsBlockedFromTheStartHangs() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start { $0.hangThresholds.running = .seconds(1) }
            PoolTests.blockThePool()
            session.watchTaskPool()
            try blockUntil("the stacks of the hang are there") { (try? Reader(path: session.runPath ?? "").run())?.snapshots?.first?.isComplete == true }
            kill(getpid(), SIGKILL)
        }
        let report = try #require(try scene.runs().last)
        #expect(report.verdict?.end == .hang && report.verdict?.evidenceKind == .hangMark)
        #expect(report.headline.hasPrefix("hung: its concurrency pool stood still"), "\(report.headline)")
    }

    @Test func aTestsOwnMainActorIsWatchedToo() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let (beats, more) = AsyncStream.makeStream(of: Void.self)
            session.watchMainActor(every: .milliseconds(5)) {
                more.yield()
                return true
            }
            var count = 0
            for await _ in beats {
                count += 1
                if count == 10 { break }
            }
        }
        #expect(try scene.runs().last?.verdict?.end == .clean)
    }

    @Test func aSessionThatIsStoppedEndsTheWatch() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            session.watchMainActor()
            session.watchTaskPool()
            session.watchTaskPool()  // a second call changes nothing
            /// The number of threads that watch.
            func watches() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter {
                    let name = try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
                    return name == "main actor\n" || name == "task pool\n"
                }.count
            }
            try await waitUntil("both threads watch") { try watches() == 2 }
            session.stop()
            try await waitUntil("both threads end") { try watches() == 0 }
        }
    }
}
