import CLaunchGuard
import Foundation
import Testing

@testable import LaunchGuardReportModel

/// Annotations in reports. No output contains a redacted value.
@Suite struct AnnotationTests {
    /// Long enough for a search in every form.
    private static let secrets = ["set-before-X7Qk2LmNp9", "set-behind-Zr4TwV8bYc", "replaced-Hs6DfGj1KaQ", "field-Wb5NxRt3Uq"]

    private static func change(_ child: Child) {
        child.log("token", secrets[3])
        child.log("screen", "a field settings")
        child.annotate("screen", "settings")
        child.annotate("token", secrets[2])
        child.annotate("token", secrets[0])
        child.redact("token")
        child.redact("password")
        child.annotate("password", secrets[1])
        child.redact("not set")
        child.annotate("document", "Grüße \u{1B}[31m\n世界")
    }

    @Test func everyAnnotationOfAFileIsRead() throws {
        let report = try Reader(path: Sample.golden("annotated.lgrun")).run()
        #expect(report.problems.isEmpty)
        let annotations = try #require(report.annotations)
        #expect(annotations.map(\.key) == ["cut", "document \u{1B}[31m\u{FFFD}", "empty", "password", "screen", "secret", "taken", "token"])
        #expect(annotations[0] == Annotation(key: "cut", value: String(repeating: "v", count: 495), time: annotations[0].time,
            monotonicNanoseconds: 2_000_000_010, isCut: true))
        #expect(annotations[0].time == report.time(monotonic: 2_000_000_010) && annotations[0].time != nil)
        #expect(annotations[1].value == "Grüße, \"世界\"\n\u{1B}[0m\u{FFFD}")
        #expect(annotations[2].value == "" && annotations[4].value == "settings" && !annotations[4].isCut)
        #expect([3, 5, 6, 7].allSatisfy { annotations[$0] == Annotation(redacted: annotations[$0].key) })
        #expect(report.redactedKeys == ["password", "secret", "taken", "token"])
        #expect(try JSONLine.value(RunReport.self, from: JSONLine.text(report)) == report)
        #expect(try Reader(path: Sample.golden("later.lgrun")).run().annotations == nil)
    }

    @Test func theToolShowsAnnotations() throws {
        let text = try Tool.run(["inspect", Sample.golden("annotated.lgrun")])
        #expect(text.status == 0)
        #expect(text.output.contains(
            """
            \nannotations
              cut                 \(String(repeating: "v", count: 495)) …
              document \\x1B[31m\u{FFFD}  Grüße, "世界"\\x0A\\x1B[0m\u{FFFD}
              empty              \u{20}
              password            (redacted)
              screen              settings
              secret              (redacted)
              taken               (redacted)
              token               (redacted)\n
            """))
        let json = try Tool.run(["inspect", "--json", Sample.golden("annotated.lgrun")])
        #expect(json.output.contains(#"{"isCut":false,"isRedacted":true,"key":"token"}"#))
        #expect(!(text.output + json.output).contains("swordfish") && !(text.output + json.output).contains("tuna"))
        let verify = try Tool.run(["verify", Sample.golden("annotated.lgrun")])
        #expect(verify.status == 0 && verify.output.contains("8 keys, 6 with a value, 4 redacted"))
    }

    /// Every output of the tool about a state directory and a run.
    private func everyOutput(_ folder: String, _ run: String) throws -> String {
        var output = ""
        for arguments in [
            ["list", folder], ["list", "--json", folder], ["inspect", folder], ["inspect", "--json", folder], ["inspect", run], ["inspect", "--map", run],
            ["inspect", "-n", "100000", run], ["inspect", "--no-symbols", run], ["inspect", "--json", run], ["log", run], ["log", "--json", run],
            ["log", "-f", run], ["log", folder], ["verify", run], ["verify", "--json", run], ["verify", folder + "/ledger.lg"],
        ] {
            let result = try Tool.run(arguments)
            #expect(result.status == 0 || result.status == 1, "\(arguments)")
            output += result.output + result.errors
        }
        let reader = try Reader(path: run)
        let report = try reader.run()
        var writer = TextWriter()
        report.write(to: &writer, breadcrumbLimit: .max, includesMap: true)
        return output + writer.text + JSONLine.text(report) + "\(report)" + "\(try reader.breadcrumbs(of: report))" + "\(reader.verify())"
    }

    private func expectNoSecret(in output: String, alsoAsDigits: Bool) {
        #expect(output.contains("settings"), "values that are not redacted are shown; else the test proves nothing")
        for secret in Self.secrets {
            // A part of the value is also a leak.
            #expect(!output.contains(secret) && !output.contains(secret.suffix(10)))
            if alsoAsDigits { #expect(!output.contains(hex(secret.utf8.suffix(10)))) }
        }
    }

    @Test func noOutputHasWhatIsRedacted() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let child = Child(path)
            child.log(LG_LEVEL_INFO, "begin")
            Self.change(child)
            // A text with a value that is redacted.
            child.log(LG_LEVEL_INFO, "signed in with \(Self.secrets[3])")
            kill(getpid(), SIGKILL)
        }
        let run = try #require(try StateDirectory(path: folder.path).runPaths().last)
        let bytes = try Data(contentsOf: URL(filePath: run))
        #expect(bytes.range(of: Data(Self.secrets[0].utf8)) != nil, "the value is in the file; else the test proves nothing")
        expectNoSecret(in: try everyOutput(folder.path, run), alsoAsDigits: true)
        #expect(try Tool.run(["log", run]).output.contains("signed in with ***"))
        // The value is shown while it is not redacted: the same file with every redaction flag
        // cleared.
        var changed = [UInt8](bytes)
        let slots = try #require(changed.offset(ofSection: 12))
        for place in 0..<64 { changed.replaceSubrange(slots + 16 * place + 8..<slots + 16 * place + 12, with: [0, 0, 0, 0]) }
        let copy = try folder.write(changed, "unredacted.lgrun")
        let output = try Tool.run(["inspect", copy]).output
        #expect(output.contains("token=\(Self.secrets[3])"))
        #expect(output.contains(Self.secrets[0]) && output.contains(Self.secrets[1]) && !output.contains(Self.secrets[2]))
    }

    @Test func noOutputOfACrashHasARedactedValueAsText() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .signal(SIGSEGV)) { [path = folder.path as String] in
            let child = Child(path)
            child.log(LG_LEVEL_INFO, "begin")
            Self.change(child)
            child.launch()
            Child.readMemory(at: 8)
        }
        let run = try #require(try StateDirectory(path: folder.path).runPaths().last)
        expectNoSecret(in: try everyOutput(folder.path, run), alsoAsDigits: false)
    }

    @Test func noRedactedValueOfALivingProcessIsShown() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let child = Child(path)
            Self.change(child)
            let run = try #require(try StateDirectory(path: path).runPaths().last)
            var output = try Tool.run(["inspect", "--json", run]).output + Tool.run(["inspect", run]).output
            for secret in Self.secrets { child.annotate("token", secret) }
            output += try Tool.run(["inspect", "--json", run]).output
            try Data(output.utf8).write(to: URL(filePath: path + "/output"))
        }
        let output = try String(contentsOfFile: folder.path + "/output", encoding: .utf8)
        #expect(output.contains(#""isAlive":true"#))
        expectNoSecret(in: output, alsoAsDigits: true)
    }

    @Test func redactedKeysAreReadByTheirNames() throws {
        let path = Sample.golden("annotated.lgrun")
        func hides(_ path: String, _ keys: String...) throws -> [Bool] {
            let secrets = try Secrets(try Reader(path: path), nil)
            return keys.map { key in
                var bytes = (UInt64(0), UInt64(0))
                unsafe withUnsafeMutableBytes(of: &bytes) { unsafe $0.copyBytes(from: key.utf8) }
                return secrets.hides(&bytes)
            }
        }
        #expect(try hides(path, "password", "secret", "taken", "token", "screen", "tokens") == [true, true, true, true, false, false])
        #expect(try hides(Sample.golden("later.lgrun"), "anything") == [false], "a file without them has no redacted key, and that is known")

        // A redacted annotation that cannot be read may have any key; one that is not redacted
        // hides no key.
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let folder = try TemporaryFolder()
        for (text, isKnown) in [("swordfish", false), ("settings", true)] {
            var changed = bytes
            let place = try #require(Data(bytes).range(of: Data(text.utf8))?.lowerBound)
            changed[place] ^= 1
            let file = try folder.write(changed, "changed")
            #expect(try hides(file, "anything") == [!isKnown])
            let report = try Reader(path: file).run()
            #expect(report.problems.map(\.part) == ["annotations"] && report.annotations?.count == 7)
        }
    }

    @Test func bothSlotsOfADoubleKeyAreRedacted() throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: Sample.golden("annotated.lgrun"))))
        let slots = try #require(bytes.offset(ofSection: 12))
        // Make the first slot, of "screen", name the value of the fifth.
        bytes.replaceSubrange(slots..<slots + 8, with: Array(bytes[(slots + 64)..<(slots + 72)]))
        let folder = try TemporaryFolder()
        let report = try Reader(path: try folder.write(bytes, "twice")).run()
        #expect(report.annotations?.filter { $0.key == "token" } == [Annotation(redacted: "token"), Annotation(redacted: "token")])
    }
}
