import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// Jobs with a deadline, and run loops that wait.
@Suite struct DeadlineTests {
    @Test func aJobThatOverrunsIsInTheFileAfterSIGKILL() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            session.sendHeartbeat()
            session.pauseHeartbeat()
            await session.withDeadline("also in time", limit: .seconds(3600)) { await Task.yield() }
            try overrun(session)
        }
        let report = try #require(try scene.runs().last)
        #expect(report.deadlines?.map(\.name) == ["upload"])
        #expect(report.heartbeats?.map(\.isPaused) == [true])
        let snapshot = try #require(report.snapshots?.first)
        #expect(snapshot.kind == .deadline && snapshot.name == "upload" && snapshot.resolvedNanoseconds == nil)
        #expect(snapshot.threads?.first?.stack != nil)
    }

    @Test func aJobThatWaitsHasTheFunctionsOfItsTask() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            Task.detached { try endWithSnapshot(session) }
            await session.withDeadline("download", limit: .milliseconds(100)) { await outer() }
        }
        let thread = try #require(try scene.runs().last?.snapshots?.first?.threads?.first)
        #expect(thread.how == .task && thread.stack?.method == .async && thread.stack?.isTruncated == false)
        #expect(try #require(thread.stack).frames.count > 3)
        #expect(try #require(thread.stack).frames.allSatisfy { $0.module != nil && $0.lookup == $0.address })
    }
}

/// Ends the process when the stack of the job is there.
private func overrun(_ session: Session) throws {
    session.withDeadline("in time", limit: .seconds(3600)) {}
    try session.withDeadline("upload", limit: .milliseconds(100)) { try endWithSnapshot(session) }
}

private func endWithSnapshot(_ session: Session) throws {
    try blockUntil("the stack of the job is there") {
        (try? Reader(path: session.runPath ?? "").run())?.snapshots?.first?.isComplete == true
    }
    kill(getpid(), SIGKILL)
}

@inline(never) private func outer() async { await inner() }

@inline(never) private func inner() async { await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
