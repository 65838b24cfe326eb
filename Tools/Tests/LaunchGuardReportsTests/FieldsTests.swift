@testable import LaunchGuardReportModel
import Testing

/// Breadcrumbs with a category and fields, from the golden file that has every kind of them.
@Suite struct FieldsTests {
    private let path = Sample.golden("fields.lgrun")

    @Test func theModelHasFields() throws {
        let report = try Reader(path: path).run()
        let breadcrumbs = try #require(report.breadcrumbs)
        #expect(breadcrumbs.entries.count == 14 && breadcrumbs.unknown == 2 && breadcrumbs.torn == 0)
        #expect(breadcrumbs.entries[0].category == nil && breadcrumbs.entries[0].fields == nil && breadcrumbs.entries[0].isDamaged == nil)
        #expect(breadcrumbs.entries[1].category == "network" && breadcrumbs.entries[1].text == "request failed")
        #expect(breadcrumbs.entries[1].fields == [.init(key: "url", value: "https://example.org"), .init(key: "code", value: "503")])
        #expect(breadcrumbs.entries[5].fields?.count == 255)
        #expect(breadcrumbs.entries.filter { $0.isDamaged == true }.count == 7)
        #expect(report.isDamaged && report.problems.map(\.part) == ["ring log"])
    }

    @Test func aLineShowsFields() throws {
        let log = try Tool.run(["log", path])
        let lines = log.output.split(separator: "\n").map { $0.split(separator: "] ", maxSplits: 1, omittingEmptySubsequences: false)[1] }
        #expect(lines[0] == "only text")
        #expect(lines[1] == "network: request failed  url=https://example.org code=503")
        #expect(lines[2] == #"text  ""="" "a key"="\"\x1B[m\#u{FFFD}\x0A" …"#)
        #expect(lines[4] == "" && lines[5].hasPrefix(#"a="" b="" c="""#))
        #expect(lines[6] == "damaged" && lines[12] == "damaged …" && lines[13] == "the last one")
        #expect(log.errors.contains("2 breadcrumbs are of a kind that this version does not know"))
        #expect(log.status == 3)
        let inspect = try Tool.run(["inspect", path])
        #expect(inspect.status == 3 && inspect.output.contains("network: request failed  url=https://example.org code=503\n"))
        #expect(inspect.output.contains("  2 breadcrumbs are of a kind that this version does not know\n"))
    }

    @Test func theLogIsFilteredByCategory() throws {
        let network = try Tool.run(["log", "--category", "network", path])
        #expect(network.status == 3 && network.output.split(separator: "\n").count == 1 && network.output.contains("request failed"))
        let two = try Tool.run(["log", "--category", "network", "--category", "the longest category there is, just as long as a name may be :)", path])
        #expect(two.output.split(separator: "\n").count == 2)
        let none = try Tool.run(["log", "--category", "net", path])
        #expect(none.status == 1 && none.output.isEmpty)
    }

    @Test func jsonHasFieldsInTheirOrder() throws {
        let network = try Tool.run(["log", "--category", "network", "--json", path])
        #expect(network.output.contains(#""category":"network","fields":[{"key":"url","value":"https://example.org"},{"key":"code","value":"503"}]"#))
        let plain = try Tool.run(["log", "-n", "1", "--json", path])
        #expect(!plain.output.contains("fields") && !plain.output.contains("category") && !plain.output.contains("isDamaged"))
    }

    @Test func aLineOfTheLogIsTheLineOfTheEncoder() throws {
        var entries = try #require(try Reader(path: path).run().breadcrumbs?.entries)
        entries += try #require(try Sample.crash().breadcrumbs?.entries)
        entries += try #require(try Sample.surrounded().breadcrumbs?.entries)
        for text in ["", "/", #"a "b" \"#, "\u{7F}", "\u{1B}[31m", "\u{9B}2J", "\u{202E}", "ä, 日本, 🧨", "\n\t\0", "\u{1F}", "~", " "] {
            let fields: [Breadcrumb.Field] = [.init(key: text, value: text), .init(key: text, value: nil)]
            entries.append(
                Breadcrumb(
                    lane: .max, sequence: .max, monotonicNanoseconds: 0, time: Timestamp(nanoseconds: .max), threadID: .min, level: Level(rawValue: 11),
                    text: text, category: text, fields: fields, isCut: true, isDamaged: false))
        }
        entries.append(Breadcrumb(lane: 0, sequence: 1, monotonicNanoseconds: 2, time: nil, threadID: 3, level: .info, text: "empty", fields: []))
        for entry in entries {
            var line: [UInt8] = []
            JSONLine.append(entry, to: &line)
            #expect(String(decoding: line, as: UTF8.self) == JSONLine.text(entry) + "\n")
        }
    }

    @Test func aFieldWithoutAValueIsShownAsRedacted() throws {
        var breadcrumbs = try #require(try Reader(path: path).run().breadcrumbs)
        let fields = try #require(breadcrumbs.entries[1].fields)
        breadcrumbs.entries[1].fields = fields.map { $0.key == "url" ? .init(key: $0.key, value: nil) : $0 }
        #expect(breadcrumbs.entries[1].fields == [.init(key: "url", value: nil), .init(key: "code", value: "503")])
        var writer = TextWriter()
        breadcrumbs.entries[1].write(to: &writer)
        #expect(writer.text.hasSuffix("network: request failed  url=(redacted) code=503\n"))
        #expect(!JSONLine.text(breadcrumbs).contains("example.org"))
        #expect(try JSONLine.value(Breadcrumbs.self, from: JSONLine.text(breadcrumbs)) == breadcrumbs)
    }
}
