import Dispatch
import Foundation
import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// Crashes of Swift code, on every kind of thread that Swift programs have.
@Suite struct CaptureTests {
    @Test func traps() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGILL)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            let numbers = [1, 2, 3]
            print(numbers[Int(getpid())])
        }
        // Without optimisation the standard library prints the reason.
        let crash = try expectWholeRecord(scene, kind: "trap.swift")
        #expect(try #require(crash.messages?.first).source == .swift)
        #expect(try #require(crash.messages?.first).text.hasSuffix("Fatal error: Index out of range"))
    }

    @Test func aCrashThatTheProgramNotes() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            guard session.noteCrash("TypeError"), !session.noteCrash("another") else { exit(1) }
        }
        let report = try #require(try scene.runs().last)
        #expect(report.verdict?.end == .crash && report.verdict?.evidenceKind == .crashNote)
        #expect(report.identity?.crashNote?.type == "TypeError")
    }

    @Test func aSignalThatIsNotCaptured() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            _ = try Child(directory).start { $0.record.capturesSignals = false }
            raise(SIGSEGV)
        }
        let report = try #require(try scene.runs().last)
        #expect(report.identity?.isStartComplete == true && report.crash == nil && report.verdict?.end == .unknown)
    }

    @Test func theBusyThreadIsNamed() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            let (used, told) = AsyncStream.makeStream(of: Void.self)
            let busy = Thread {
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                Child(directory).note(link.map { URL(filePath: $0).lastPathComponent } ?? "")
                while ownCPUTime() < 300_000_000 {}
                told.yield()
                while true {}
            }
            busy.start()
            for await _ in used { break }
            raise(SIGSEGV)
        }
        let threads = try #require(try scene.runs().last?.crash?.threads)
        let hottest = try #require(threads.max { ($0.cpuNanoseconds ?? 0) < ($1.cpuNanoseconds ?? 0) })
        #expect(scene.journal == ["\(hottest.threadID)"] && hottest.cpuNanoseconds ?? 0 >= 300_000_000)
    }

    /// Against the same facts by Foundation and libc.
    @Test func theRunFileSaysWhereItRan() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            _ = try Child(directory).start { $0.record.keepsCommandLine = true }
            kill(getpid(), SIGKILL)
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            kill(getpid(), SIGKILL)
        }
        let systems = try scene.runs().map { try #require($0.system) }
        try #require(systems.count == 2)
        #expect(systems.allSatisfy { $0.parentProcessID == getpid() })
        var names = utsname()
        #expect(unsafe uname(&names) == 0)
        let release = unsafe withUnsafeBytes(of: &names.release) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #expect(systems.allSatisfy { $0.kernel == release })
        let distribution = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8).split(separator: "\n").first { $0.hasPrefix("ID=") }
        let id = distribution.map { $0.dropFirst(3).trimmingCharacters(in: ["\"", "'"]) }
        #expect(systems.allSatisfy { $0.distribution == id })
        #expect(systems[0].commandLine?.first == CommandLine.arguments[0] && systems[1].commandLine == nil)
        #expect(systems[0].machineID == systems[1].machineID)
    }

    @Test func overflowOfTheMainThread() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { @MainActor [directory = scene.directory as String] in
            _ = try Child(directory).start()
            print(recurse(0))
        }
        try expectWholeRecord(scene, kind: "fault.stack_overflow")
    }

    @Test func overflowOfATaskThread() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            await Task.detached { print(recurse(0)) }.value
        }
        try expectWholeRecord(scene, kind: "fault.stack_overflow")
    }

    @Test func overflowOfADispatchThread() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            DispatchQueue(label: "queue").async { print(recurse(0)) }
            stay()
        }
        try expectWholeRecord(scene, kind: "fault.stack_overflow")
    }

    @Test func fatalErrorsLeaveTheirText() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGILL)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            fatalError("the tape is full")
        }
        let crash = try expectWholeRecord(scene, kind: "trap.swift.fatal_error")
        #expect(try #require(crash.messages?.first).text.hasSuffix("Fatal error: the tape is full"))
    }

    @Test func tasksAndQueuesAreAmongTheOtherThreads() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            let asleep = Log()
            @Sendable func rest() {
                asleep.add("asleep")
                stay()
            }
            for _ in 0..<3 { Thread.detachNewThread { rest() } }
            DispatchQueue.global().async { rest() }
            try await waitUntil("all threads stay") { asleep.all.count == 4 }
            raise(SIGSEGV)
            stay()
        }
        let crash = try expectWholeRecord(scene, kind: "signal.self")
        let threads = try #require(crash.threads)
        // Other threads may be about to begin or to end.
        #expect(threads.count { $0.how == .captured && $0.stack != nil } >= 4)
        #expect(try #require(crash.threadCounts).omitted == 0)
    }

    @discardableResult
    private func expectWholeRecord(_ scene: Scene, kind: String) throws -> Crash {
        let run = try #require(try scene.runs().last)
        let crash = try #require(run.crash)
        #expect(crash.kind == kind)
        // Only a stack that may have asynchronous callers has that stage.
        #expect(crash.stages.filter { $0 != .async } == Crash.Stage.allCases.filter { $0 != .async })
        #expect(!crash.isHandled)
        #expect(try #require(crash.stack).frames.count >= 3)
        #expect(run.verdict?.end == .crash)
        return crash
    }
}

/// Recursion that no optimiser turns into a loop.
@inline(never)
private func recurse(_ depth: Int) -> Int {
    var space = (depth, depth, depth, depth, depth, depth, depth, depth)
    return unsafe withUnsafePointer(to: &space) { pointer in depth < 0 ? 0 : recurse(depth + 1) + (unsafe pointer.pointee.7) }
}

private func ownCPUTime() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
