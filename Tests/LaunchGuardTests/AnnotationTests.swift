import Glibc
import LaunchGuard
import LaunchGuardReportModel
import Testing

/// Annotations, read back after the death of their process.
@Suite struct AnnotationTests {
    @Test func theLastValueSurvivesSIGKILL() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            guard session.annotate("screen", "launch"), session.annotate("screen", "settings"), session.annotate("document", "Grüße, 世界 🌍"),
                session.annotate("gone", "x"), session.annotate("gone", nil), session.annotate("never there", nil), session.annotate("empty", ""),
                session.annotate("long", String(repeating: "ä", count: 400)), session.annotate("cut at a NUL", "before\0behind")
            else { exit(1) }
            guard !session.annotate("", "x"), !session.annotate(String(repeating: "k", count: 64), "x"), !session.annotate("a\0b", "x"), !session.redact("a\0b"),
                !session.redact("")
            else { exit(2) }
            guard session.redact("token"), session.annotate("token", "secret") else { exit(3) }
            kill(getpid(), SIGKILL)
        }
        let report = try #require(try scene.runs().last)
        let annotations = try #require(report.annotations)
        #expect(annotations.map(\.key) == ["cut at a NUL", "document", "empty", "long", "screen", "token"])
        #expect(annotations.map(\.value) == ["before", "Grüße, 世界 🌍", "", String(repeating: "ä", count: 247) + "\u{FFFD}", "settings", nil])
        #expect(annotations.map(\.isCut) == [false, false, false, true, false, false])
        #expect(report.redactedKeys == ["token"])
    }

    @Test func annotationsBeyondTheLimitAreRefused() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            for number in 0..<64 where !session.annotate("key \(number)", "\(number)") { exit(1) }
            guard !session.annotate("one more", "x"), !session.redact("one more"), session.annotate("key 7", nil), session.annotate("one more", "x") else { exit(2) }
            session.stop()
            guard !session.annotate("key 1", "late"), !session.redact("key 1") else { exit(3) }
        }
        let annotations = try #require(try scene.runs().last?.annotations)
        #expect(annotations.count == 64 && annotations.allSatisfy { $0.key == "one more" || $0.key == "key \($0.value ?? "")" })
    }

    @Test func tasksSetTheSameKeysAtTheSameTime() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let session = try Child(directory).start()
            await withTaskGroup { group in
                for task in 1...8 {
                    group.addTask { for number in 1...200 { session.annotate("key \(number % 3)", "\(task) says \(number)") } }
                }
            }
        }
        let annotations = try #require(try scene.runs().last?.annotations)
        #expect(annotations.map(\.key) == ["key 0", "key 1", "key 2"])
        for (annotation, last) in zip(annotations, [198, 199, 200]) { #expect(annotation.value?.hasSuffix(" says \(last)") == true) }
    }
}
