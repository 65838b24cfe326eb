import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Testing

/// The closure that gets what LaunchGuard says.
@Suite struct OnLogTests {
    @Test func theClosureGetsWhatTheRingLogGets() async throws {
        let scene = try Scene()
        for death in 1...2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String, death = death as Int] in
                let child = Child(directory)
                let session = try child.start {
                    $0.onLog = { level, category, text in
                        guard category == "launchguard" else { exit(2) }
                        child.note("\(death) \(level) \(text)")
                    }
                }
                let launch = session.launch("main", .init(finish: .mark))
                try await launch.begin().get()
                launch.finish()
                kill(getpid(), SIGKILL)
            }
        }
        let lines = scene.journal
        #expect(lines.prefix(2) == ["1 debug launch main: checking", "1 debug launch main: normal"])
        #expect(lines.count == 5)
        let last = try #require(lines.dropFirst(2).first)
        #expect(last.hasPrefix("2 warning the last run (number 1, ") && last.contains("has the end \"unknown\""))
        #expect(lines.suffix(2) == ["2 debug launch main: checking", "2 debug launch main: normal"])
        #expect(try scene.lastLog() == ["launch main: checking", "launch main: normal"])
    }

    @Test func theProblemOfAStartIsSaid() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let onLog: @Sendable (LogLevel, String, String) -> Void = { level, _, text in child.note("\(level) \(text)") }
            guard (try? child.start { ($0.appID, $0.onLog) = ("", onLog) }) == nil else { exit(2) }
            let session = try child.start { ($0.stateDirectory, $0.onLog) = ("/proc/nowhere", onLog) }
            guard session.protection == .unprotected else { exit(3) }
        }
        #expect(scene.journal.count == 2)
        #expect(scene.journal.first?.hasPrefix("error lg_start: app_id must have") == true)
        #expect(scene.journal.last?.hasPrefix("error /proc/nowhere") == true)
    }
}
