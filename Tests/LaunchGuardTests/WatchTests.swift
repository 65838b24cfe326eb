import Foundation
import LaunchGuard
import LaunchGuardReports
import LaunchGuardSymbols
import Testing
import TestSupport

/// The thread with the heart of the main actor, in programs of their own, as a test does not own
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
        try Symbolicator().symbolicate(&report)
        let busy = report.snapshots?.first?.threads?.filter { thread in
            thread.stack?.frames.contains { $0.symbols?.contains { $0.name.contains("keepTheMainActorBusy()") } == true } == true
        }
        #expect(busy?.count == 1 && (busy?.first?.threadID == first.threadID) == (how == "hangs-runloop"), "\(said)")
        if how == "hangs-runloop" && Sanitizer.keepsLoopsInnermost { #expect(report.headline.contains(" in ") && report.headline.contains("keepTheMainActorBusy()"), "\(report.headline)") }
    }

    /// Run the program to its end. Its alarm bounds the time.
    private func probe(_ scene: Scene, _ how: String) throws -> (process: Process, said: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "main-actor-probe")
        process.arguments = [scene.directory + "/state", how]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        return (process, String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
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
            let pool = session.watchPool()
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
            pool.end()
        }
    }
}
