import Dispatch
import Glibc
import LaunchGuard
import LaunchGuardReports
import Testing

/// Crashes of Swift code, on every kind of thread that Swift programs have.
@Suite struct CaptureTests {
    @Test func traps() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGILL)) { [directory = scene.directory as String] in
            _ = try Child(directory).start()
            let numbers = [1, 2, 3]
            print(numbers[Int(getpid())])
        }
        try expectWholeRecord(scene, kind: "trap.illegal")
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
            sleep(15)
        }
        try expectWholeRecord(scene, kind: "fault.stack_overflow")
    }

    private func expectWholeRecord(_ scene: Scene, kind: String) throws {
        let run = try #require(try scene.runs().last)
        let crash = try #require(run.crash)
        #expect(crash.kind == kind)
        #expect(Set(crash.stages).isSuperset(of: [.header, .context, .frames, .dwarf, .done]))
        #expect(!crash.isHandled)
        #expect(try #require(crash.stack).frames.count >= 3)
        #expect(run.verdict?.end == .crash)
    }
}

/// Recursion that no optimiser turns into a loop.
@inline(never)
private func recurse(_ depth: Int) -> Int {
    var space = (depth, depth, depth, depth, depth, depth, depth, depth)
    return unsafe withUnsafePointer(to: &space) { pointer in depth < 0 ? 0 : recurse(depth + 1) + (unsafe pointer.pointee.7) }
}
