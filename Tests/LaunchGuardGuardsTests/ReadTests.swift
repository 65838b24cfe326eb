import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardReportModel
import Testing
import TestSupport

/// Guarded reads of memory that is gone.
@Suite struct ReadTests {
    /// A mapping of two pages, whose file has one.
    static func cutShort(_ directory: String) -> UnsafeRawBufferPointer {
        let page = Int(getpagesize()), file = unsafe open(directory + "/mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        ftruncate(file, 2 * page)
        let base = unsafe mmap(nil, 2 * page, PROT_READ, MAP_SHARED, file, 0)
        ftruncate(file, page)
        close(file)
        return unsafe UnsafeRawBufferPointer(start: base, count: 2 * page)
    }

    @Test func anUnguardedReadEndsTheProgram() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(SIGBUS)) { [directory = scene.directory as String] in
            let child = Child(directory)
            _ = try child.start()
            _ = try unsafe guardedRead(from: Self.cutShort(directory))
            child.note("read")
        }
        #expect(scene.journal == [])
        #expect(try scene.lastRun()?.verdict?.end == .crash)
    }

    @Test func aGuardedReadThrowsUntilTheStop() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(SIGBUS)) { [directory = scene.directory as String] in
            let child = Child(directory), told = Told(), guards = try child.startGuards(.survive, onEvent: told.add)
            let mapping = unsafe Self.cutShort(directory), half = unsafe UnsafeRawBufferPointer(rebasing: mapping[..<(mapping.count / 2)])
            #expect(try unsafe guardedRead(from: half).count == half.count)
            let error = #expect(throws: LaunchGuardError.self) { _ = try unsafe guardedRead(from: mapping) }
            #expect(error?.code == .system && error?.systemError == EFAULT)
            let event = try await told.wait(for: 1)[0]
            #expect(event.guardClass == .memory && event.action == .survived)
            child.note("survived")
            guards.stop()
            _ = try unsafe guardedRead(from: mapping)
            child.note("read")
        }
        #expect(scene.journal == ["survived"])
    }

    /// A limit: only the copy is guarded.
    @Test func aReadThatIsNotGuardedCrashesAsBefore() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .signal(SIGBUS)) { [directory = scene.directory as String] in
            let child = Child(directory)
            _ = try child.startGuards(.survive)
            let mapping = unsafe Self.cutShort(directory)
            child.note((try? unsafe guardedRead(from: mapping)) == nil ? "survived" : "read")
            print(unsafe mapping[mapping.count - 1])
        }
        #expect(scene.journal == ["survived"])
        #expect(try scene.lastRun()?.crash?.signal.number == SIGBUS)
    }

    /// A limit: two reads at two places are one site.
    @Test func allReadsAreOneSite() async throws {
        let scene = try TestDirectory()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let told = Told(), guards = try Child(directory).startGuards(.survive, onEvent: told.add)
            let mapping = unsafe Self.cutShort(directory)
            #expect((try? unsafe guardedRead(from: mapping)) == nil)
            #expect((try? unsafe guardedRead(from: mapping)) == nil)
            guards.stop()
            try await waitUntil("both reads are told") { told.all.last?.count == 2 }
            #expect(Set(told.all.map(\.site)).count == 1)
        }
    }
}
