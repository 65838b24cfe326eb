import Foundation
import LaunchGuard
import LaunchGuardReports
import Testing

/// Which thread has the heart of the main actor, in programs of their own: the main thread of a test is not a test's.
@Suite struct WatchTests {
    @Test(arguments: ["dispatch", "runloop", "unserved", "blocked"])
    func theMainActorBeatsWhereItIsServed(how: String) throws {
        let scene = try Scene()
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "main-actor-probe")
        process.arguments = [scene.directory + "/state", how]
        let output = Pipe()
        process.standardOutput = output
        try process.run()  // It ends by itself, at the latest by an alarm.
        process.waitUntilExit()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(said)")
        #expect(try scene.runs().last?.verdict?.end == .clean, "the watch does not keep a program from its end")
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
            /// How many threads watch.
            func watches() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter {
                    let name = try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
                    return name == "main actor\n" || name == "task pool\n"
                }.count
            }
            for _ in 0..<400 where try watches() < 2 { try await Task.sleep(for: .milliseconds(25)) }
            if try watches() != 2 { exit(1) }
            session.stop()
            for _ in 0..<400 where try watches() > 0 { try await Task.sleep(for: .milliseconds(25)) }
            if try watches() > 0 { exit(2) }
            pool.end()
        }
    }
}
