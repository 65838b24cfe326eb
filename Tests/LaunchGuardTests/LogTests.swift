import Glibc
import LaunchGuard
import LaunchGuardReports
import Testing

/// Breadcrumbs, read back after the death of their process.
@Suite struct LogTests {
    @Test func whatWasLoggedSurvivesSIGKILL() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let rows = 3
            session.log(.info, "database opened, \(rows) rows")
            session.log(.critical, "constant" as StaticString)
            session.log(.debug, "Grüße, 世界 🌍")
            session.log(.trace, "")
            for level in LaunchGuard.Level.allCases { session.log(level, "level \(level)") }
            kill(getpid(), SIGKILL)
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        let found = entries.map { "\($0.level) \($0.text)" }
        let expected =
            ["info database opened, 3 rows", "critical constant", "debug Grüße, 世界 🌍"]
            + LaunchGuard.Level.allCases.map { "\($0) level \($0)" }
        #expect(found.filter(expected.contains) == expected)
        #expect(try scene.runs().last?.verdict?.end == .unknown)
    }

    @Test func aLongTextIsCut() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            try Child(directory).start().log(.info, String(repeating: "z", count: 5000))
        }
        let entry = try #require(try scene.runs().last?.breadcrumbs?.entries.first { $0.text.hasPrefix("zzz") })
        #expect(entry.isCut)
        #expect(entry.text == String(repeating: "z", count: 4000))
    }

    @Test func tasksLogAtTheSameTimeWithoutLoss() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            await withTaskGroup { group in
                for task in 1...8 {
                    group.addTask { for number in 1...50 { session.log(.info, "task \(task) number \(number)") } }
                }
            }
        }
        let texts = Set(try scene.lastLog())
        let expected = Set((1...8).flatMap { task in (1...50).map { "task \(task) number \($0)" } })
        #expect(expected.subtracting(texts).isEmpty)
    }
}
