import Glibc
import LaunchGuard
import LaunchGuardReports
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
}

/// Ends the process when the stack of the job is there.
private func overrun(_ session: Session) throws {
    session.withDeadline("in time", limit: .seconds(3600)) {}
    try session.withDeadline("upload", limit: .milliseconds(100)) {
        try blockUntil("the stack of the job is there") {
            (try? Reader(path: session.runPath ?? "").run())?.snapshots?.first?.isComplete == true
        }
        kill(getpid(), SIGKILL)
    }
}
