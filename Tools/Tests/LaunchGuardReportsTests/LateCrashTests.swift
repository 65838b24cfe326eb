import Testing

@testable import LaunchGuardReportModel

/// Conclusions about a crash from its signal and moment.
@Suite struct LateCrashTests {
    private func lines(of crash: Crash) -> String {
        var writer = TextWriter()
        crash.writeMessages(to: &writer)
        return writer.text
    }

    @Test func aCrashAfterExitSaysSo() throws {
        var crash = try #require(try Reader(path: Sample.golden("late.lgrun")).run().crash)
        #expect(crash.isExiting == true && crash.isOfAnyThread == nil && crash.kind == "abort.explicit")
        #expect(lines(of: crash).contains("the process had passed through exit() before"))
        #expect(!lines(of: crash).contains("arbitrary"))
        crash.isExiting = nil
        crash.isOfAnyThread = true
        #expect(!lines(of: crash).contains("exit()"))
        #expect(lines(of: crash).contains("the thread that got it is arbitrary"))
    }
}
