import Foundation
import LaunchGuardReportModel
import LaunchGuardReports
import Testing

@Suite struct PublicReportTests {
    typealias Report = LaunchGuardReports.RunReport
    typealias Ledger = LaunchGuardReports.LedgerReport

    static let golden = Sample.root.appending(path: "Tests/Golden").path

    static func goldenFiles(_ suffix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: golden).filter { $0.hasSuffix(suffix) }.sorted().map { golden + "/" + $0 }
    }

    static func decoded() throws -> Report { try JSONDecoder().decode(Report.self, from: Data(Sample.crashJSON.utf8)) }

    @Test func everyGoldenRunSaysWhatTheModelSays() throws {
        let paths = try Self.goldenFiles(".lgrun")
        #expect(paths.count > 20)
        for path in paths {
            let report = try Report(path: path)
            let model = try Reader(path: path).run()
            var writer = TextWriter()
            model.write(to: &writer)
            #expect(report.text() == writer.text)
            #expect(report.json == JSONLine.text(model))
            #expect(report.end?.rawValue == model.verdict?.end.rawValue, "\(path)")
            #expect(report.end?.isBad == model.verdict?.end.isBad)
            #expect(report.fingerprint == model.fingerprint)
            #expect(report.log.map(\.text) == model.breadcrumbs?.entries.map(\.text) ?? [])
            #expect(report.annotations.map(\.key) == model.annotations?.map(\.key) ?? [])
            #expect(report.problems.count == model.problems.count)
            #expect(report.stack?.frames.map(\.address) == (model.fatalCrash?.stack ?? model.hang?.threads?.first?.stack)?.frames.map(\.address.value))
            for format in Report.Format.allCases { checkExport(of: report, format) }
        }
    }

    private func checkExport(of report: Report, _ format: Report.Format) {
        do throws(Report.Failure) {
            #expect(try !report.export(format).isEmpty)
        } catch {
            #expect(error.code == .format, "\(error)")
            #expect(format == .swift || format == .minidump, "\(error)")
            #expect(format != .swift || report.end != .crash || report.stack == nil, "\(error)")
        }
    }

    @Test func aReportFromTheToolHasFunctions() throws {
        let report = try Self.decoded()
        #expect(report == (try JSONDecoder().decode(Report.self, from: JSONEncoder().encode(report))))
        #expect(report.appID == "org.example.notes")
        #expect(report.end == .crash)
        #expect(report.kind == "fault.null_read")
        #expect(report.signal?.name == "SIGSEGV")
        #expect(report.faultAddress == 0)
        #expect(report.place == "in Notes.open()")
        #expect(report.started?.description == "2026-01-31T12:00:00.000000001Z")
        #expect(report.ended?.description == "2026-01-31T12:00:01.402000001Z")
        #expect(report.duration == .milliseconds(1402))
        #expect(report.launches.map(\.name) == ["main"])
        #expect(report.launches.first?.phase == "launching")
        #expect(report.launches.first?.task == "open database")
        let frames = try #require(report.stack?.frames)
        #expect(frames.map(\.functions.count) == [2, 0, 0])
        #expect(frames[0].functions[1].line == 42)
        #expect(frames[0].description.contains("Notes.open() + 129 at Sources/App/Notes.swift:42"))
        #expect(report.stack?.truncation == "the stack ends")
        #expect(report.threads.map(\.id) == [4712])
        #expect(report.threads.first?.name == "loader")
        #expect(report.modules.first?.addresses.contains(frames[0].address) == true)
        #expect(report.log.map(\.level.description) == ["warning", "35"])
        #expect(report.log[0].level < .error)
        #expect(report.logLosses.count == 2)
        #expect(report.html().contains("Notes.open()"))
    }

    @Test func figuresThatCannotBeDoNoHarm() throws {
        var text = Sample.crashJSON
        for (figure, hostile) in [("2402000000", "18446744073709551615"), ("1000000000", "18446744073709551614"), ("1100000000", "18446744073709551615"),
            ("00005581c61c0000", "0000000000000000"), ("00005581c61b0000", "ffffffffffffffff"), (#""omitted":90"#, #""omitted":18446744073709551615"#)] {
            #expect(text.contains(figure))
            text = text.replacing(figure, with: hostile)
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        #expect(report.modules.first?.addresses.isEmpty == true)
        #expect(report.ended?.description == "2026-01-31T12:00:00.000000002Z")
        #expect(report.duration == .nanoseconds(1))
        #expect(report.launches.count == 1)
        #expect(!report.html().isEmpty)
        for format in Report.Format.allCases where format != .minidump { checkExport(of: report, format) }
    }

    @Test func theGoldenLedgersSayWhatTheModelSays() throws {
        for golden in try Self.goldenFiles(".lg") {
            let directory = NSTemporaryDirectory() + "launchguard-ledger-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: directory) }
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: golden, toPath: directory + "/ledger.lg")
            let ledger = try Ledger(stateDirectory: directory), model = try StateDirectory(path: directory).ledger()
            #expect(ledger.json == JSONLine.text(model))
            #expect(ledger.contexts.map(\.crashes) == model.contexts.map(\.crashes))
            #expect(ledger.runs.map(\.summary) == model.timeline.map(\.verdict.summary))
            #expect(ledger.text().contains(model.appID ?? "no ledger"))
        }
    }

    @Test func failuresAreNamed() throws {
        #expect(throws: Report.Failure.self) { try Report(path: "/nonexistent/run") }
        #expect { try Report(path: Sample.root.appending(path: "Package.swift").path) } throws: { ($0 as? Report.Failure)?.code == .damaged }
        #expect { try Report(path: "/nonexistent/run") } throws: { ($0 as? Report.Failure)?.code == .notFound }
        #expect { try Report(path: "/proc/self/cwd") } throws: { ($0 as? Report.Failure)?.code == .link }
        #expect { try Report(path: Self.goldenFiles(".lg")[0]) } throws: { ($0 as? Report.Failure)?.code == .state }
        #expect(try Report.paths(in: "/nonexistent").isEmpty)
    }
}
