import Testing
import ToolParts
import ToolRun

/// When `launchguard run --restart` starts a program again.
@Suite struct RestartPolicyTests {
    private static func pauses(_ lives: [(seconds: Double, streak: Int?)]) -> [RestartPolicy.Next] {
        var policy = RestartPolicy(firstDelay: 1, steady: 30)
        return lives.map { policy.next(seconds: $0.seconds, streak: $0.streak) }
    }

    private static func starts(_ pauses: Double...) -> [RestartPolicy.Next] { pauses.map { .start(after: $0) } }

    @Test func withoutALedgerThePauseDoublesAndEnds() {
        #expect(Self.pauses(Array(repeating: (0, nil), count: 8)) == Self.starts(1, 2, 4, 8, 16, 32, 60) + [.giveUp])
    }

    @Test func aLedgerDecidesAboutTheEnd() {
        #expect(Self.pauses(Array(repeating: (0, 1), count: 20)).suffix(13) == ArraySlice(repeating: .start(after: 60), count: 13))
        #expect(Self.pauses([(0, 5)]) == Self.starts(16))
    }

    @Test func aSteadyLifeIsNoPartOfALoop() {
        let lives: [(Double, Int?)] = [(0, nil), (0, nil), (30, nil), (0, nil), (40, 3)]
        #expect(Self.pauses(lives) == Self.starts(1, 2, 1, 1, 4))
        let uncounted = Array(repeating: (0.0, Int?.none), count: 7)
        #expect(!Self.pauses(uncounted + [(30, nil)] + uncounted).contains(.giveUp))
        #expect(!Self.pauses(uncounted + [(0, 1)] + uncounted).contains(.giveUp))
    }
}
