import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing
import TestSupport

/// Run loops with a heartbeat that stay away.
@Suite struct HangTests {
    enum When: String, CaseIterable, Codable, Sendable { case launching, running }

    /// Each threshold alone: the other threshold is an hour. A busy machine may take as long as the
    /// default would: a threshold that is ignored takes so long each time.
    @Test(arguments: When.allCases)
    func aLoopThatStaysAwayHangs(_ when: When) async throws {
        for _ in 1...20 where try await hang(when) < (when == .launching ? 2 : 5) * 1_000_000_000 { return }
        Issue.record("no hang is noticed sooner than by default")
    }

    /// How long the hang had lasted when it was noticed.
    private func hang(_ when: When) async throws -> UInt64 {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String, when = when as When] in
            let long = Duration.seconds(3600), short = Duration.milliseconds(200)
            let session = try Child(directory).start {
                $0.hangThresholds = .init(launching: when == .launching ? short : long, running: when == .running ? short : long)
            }
            let launch = session.launch("main", .init(window: .seconds(3600)))
            try await launch.begin().get()
            if when == .running { launch.finish() }
            try hangTwice(session)
        }
        let report = try #require(try scene.runs().last)
        #expect(report.verdict?.evidenceKind == .hangMark)
        let snapshot = try #require(report.snapshots?.first)
        #expect(snapshot.kind == .hang && snapshot.threads?.first?.threadID == report.heartbeats?.first?.threadID)
        return snapshot.takenNanoseconds - snapshot.sinceNanoseconds
    }
}

/// Ends the process when the stacks of the hang are there; the first hang passes.
private func hangTwice(_ session: Session) throws {
    func snapshot() -> Snapshot? { try? Reader(path: session.runPath ?? "").run().snapshots?.first }
    session.sendHeartbeat()
    try blockUntil("the stacks of the first hang are there") { snapshot()?.isComplete == true }
    session.sendHeartbeat()
    // The second hang may be there by now.
    if let first = snapshot(), first.sequence == 1, first.resolvedNanoseconds == nil { exit(1) }
    try blockUntil("the stacks of the second hang are there") { snapshot().map { $0.isComplete && $0.sequence == 2 } == true }
    kill(getpid(), SIGKILL)
}
