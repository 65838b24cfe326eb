import Glibc
import LaunchGuard
import LaunchGuardReportModel
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
            for level in LogLevel.allCases { session.log(level, "level \(level)") }
            kill(getpid(), SIGKILL)
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        let found = entries.map { "\($0.level) \($0.text)" }
        let expected =
            ["info database opened, 3 rows", "critical constant", "debug Grüße, 世界 🌍"]
            + LogLevel.allCases.map { "\($0) level \($0)" }
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

    @Test func literalsInterpolationsAndVariablesAreWhatTheySay() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let text = "variable", part = text.dropFirst(3), constant: StaticString = "constant", nothing: Int? = nil
            session.log(.info, "literal ä")
            session.log(.info, text)
            session.log(.info, part)
            session.log(.info, constant)
            session.log(.info, "\(text) \(part) \(constant) \(true) \(false) \(1.5) \(nothing as Any) \(Int.self) \("é" as Character)")
            session.log(.info, "\(0) \(-1) \(9) \(10) \(99) \(100) \(UInt8.max) \(Int16.min) \(UInt64.max) \(Int64.min) \(Int64.max) \(10_000_000_000_000_000_000 as UInt64)")
            session.log(.info, "\(UInt128.max) \(Int128.min)")
            session.log(.info, "long \(String(repeating: "x", count: 300)) and \(String(repeating: "y", count: 3000)), \(7)")
            session.log(.info, "\(String(repeating: "z", count: 5000))")
            session.log(.info, "\("")")
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        let expected = [
            "literal ä", "variable", "iable", "constant", "variable iable constant true false 1.5 nil Int é",
            "0 -1 9 10 99 100 255 -32768 18446744073709551615 -9223372036854775808 9223372036854775807 10000000000000000000",
            "\(UInt128.max) \(Int128.min)",
            "long \(String(repeating: "x", count: 300)) and \(String(repeating: "y", count: 3000)), 7",
            String(repeating: "z", count: 4000), "",
        ]
        #expect(entries.map(\.text) == expected)
        #expect(entries.map(\.isCut) == expected.map { $0.count == 4000 })
        #expect(entries.allSatisfy { $0.category == nil && $0.fields == nil })
    }

    @Test func categoryAndFieldsSurviveSIGKILL() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let code = 503, text = "variable"
            session.log(.error, "request \(code)", category: "network", fields: ["url": "https://example.org/ä", "code": "\(code)", "none": ""])
            session.log(.info, text, category: "network")
            session.log(.info, "literal", category: "")
            session.log(.info, text, fields: ["one": "1"])
            session.log(.info, "list", fields: .init([("b", "2"), ("a", "1"), ("b", "3")]))
            session.log(.info, "no key", fields: ["": "lost", "key": "kept"])
            session.log(.info, "", category: String(repeating: "c", count: 70), fields: [:])
            kill(getpid(), SIGKILL)
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        #expect(entries.map(\.text) == ["request 503", "variable", "literal", "variable", "list", "no key", ""])
        #expect(entries.map(\.category) == ["network", "network", nil, nil, nil, nil, String(repeating: "c", count: 63)])
        let fields = entries.map { ($0.fields ?? []).map { "\($0.key)=\($0.value ?? "?")" } }
        #expect(fields == [["url=https://example.org/ä", "code=503", "none="], [], [], ["one=1"], ["b=2", "a=1", "b=3"], ["key=kept"], []])
        #expect(entries[0].level == .error && entries.allSatisfy { !$0.isCut })
    }

    @Test func aFieldThatDoesNotFitIsLeftOut() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            let large = String(repeating: "x", count: 1 << 20), page = String(repeating: "p", count: 2000)
            session.log(.info, "text", category: "c", fields: ["large": large, "page": page, "again": page, "small": "1", large: "2"])
            session.log(.info, "many", fields: .init((0..<300).map { ("\($0)", "") }))
            session.log(.info, large, category: "c", fields: ["small": "1"])
            // As much text as fits, and one byte more. Text that is left out takes no room from the
            // text after it.
            session.log(.info, "", fields: ["k": String(repeating: "f", count: 4000 - 4 - 4 - 1)])
            session.log(.info, "", fields: ["k": String(repeating: "f", count: 4000 - 4 - 4), "l": "1"])
            session.log(.info, "t", category: "c", fields: ["k": String(repeating: "f", count: 4000 - 4 - 2 - 4 - 1 - 6), "l": "1", "m": "2"])
        }
        let entries = try #require(try scene.runs().last?.breadcrumbs?.entries)
        let fields = entries.map { ($0.fields ?? []).map { "\($0.key)=\($0.value?.utf8.count ?? -1)" } }
        #expect(fields[0] == ["page=2000", "small=1"] && fields[1] == (0..<255).map { "\($0)=0" } && fields[2] == [])
        #expect(fields[3] == ["k=3991"] && fields[4] == ["l=1"] && fields[5] == ["k=3983", "l=1"])
        #expect(entries.map(\.isCut) == [true, true, true, false, true, true])
        #expect(entries[2].text.utf8.count == 4000 - 4 - 1)
    }
}
