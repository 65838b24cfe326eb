import Foundation
import Testing

@testable import LaunchGuardReportModel

/// The system that a run began on: the model, and its rendering.
@Suite struct SystemTests {
    private let path = Sample.golden("system.lgrun")

    @Test func everyFieldIsRead() throws {
        let report = try Reader(path: path).run()
        #expect(report.problems.isEmpty)
        let system = try #require(report.system)
        #expect(system.kernel == String(repeating: "k", count: 64) && system.hardware == "aarch64")
        #expect(system.model == "Kiosk \"4\" \u{1B}[31m\u{FFFD}")
        #expect(system.distribution == "debian" && system.distributionVersion == String(repeating: "1", count: 32))
        #expect(system.machineID == "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf" && system.container == "podman")
        #expect(system.unit == "player@1.service" && system.invocationID == "000102030405060708090a0b0c0d0e0f")
        #expect(system.parentProcessID == 4700 && system.parentName == nil)
        #expect(system.commandLine?.count == 4 && system.isCommandLineCut == true)
        #expect(system.commandLine?[1] == "--file" && system.commandLine?[2] == "a \"b\"")
        let again: RunReport = try JSONLine.value(from: JSONLine.text(report))
        #expect(again == report)
        #expect(try Reader(path: path).summary().system == system)
    }

    @Test func aRunThatEndedInItsStartHasNone() throws {
        let folder = try TemporaryFolder()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        bytes.replaceSubrange(1152..<1156, with: [0, 0, 0, 0])
        let report = try Reader(path: try folder.write(bytes, "copy.lgrun")).run()
        #expect(report.system == nil && report.problems.map(\.code) == ["incomplete"])
    }

    @Test func damageIsAProblemOfThisPartAlone() throws {
        let folder = try TemporaryFolder()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let whole = try Reader(path: path).run()
        for (offset, code) in [(1152 + 60, "damaged"), (1152, "damaged")] {
            bytes[offset] ^= 1
            let copy = folder.path + "/copy.lgrun"
            try Data(bytes).write(to: URL(filePath: copy))
            let report = try Reader(path: copy).run()
            #expect(report.system == nil && report.problems.map(\.part) == ["system"] && report.problems.map(\.code) == [code])
            #expect(report.identity == whole.identity && report.modules == whole.modules)
            bytes[offset] ^= 1
        }
    }

    @Test func itsLinesAreEscaped() throws {
        let lines = try Tool.run(["inspect", path]).output.split(separator: "\n").map(String.init)
        let system = try #require(lines.first { $0.hasPrefix("system ") })
        #expect(system.hasSuffix("aarch64, Kiosk \"4\" \\x1B[31m\u{FFFD}"))
        #expect(lines.contains("machine      a0a1a2a3a4a5a6a7a8a9aaabacadaeaf") && lines.contains("container    podman"))
        #expect(lines.contains("unit         player@1.service, invocation 000102030405060708090a0b0c0d0e0f"))
        #expect(lines.contains { $0.hasPrefix("command      player --file \"a \\\"b\\\"") && $0.hasSuffix(" …") })
        #expect(!lines.contains { $0.hasPrefix("parent ") })
        let json = try Tool.run(["inspect", "--json", path]).output
        #expect(json.contains("\"machineID\":\"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf\""))
    }

    @Test func linesWithoutWhatIsNotKnown() {
        var system = RunSystem(kernel: "6.1", hardware: "x86_64", parentProcessID: 7, parentName: "runsv")
        #expect(system.words.map(\.value) == ["Linux 6.1 x86_64", "7, runsv"])
        system.parentName = nil
        #expect(system.words.map(\.value) == ["Linux 6.1 x86_64", "7"])
        #expect(RunSystem().words.map(\.value) == ["Linux"])
        system = RunSystem(distribution: "debian", parentProcessID: 1, commandLine: ["a", "", "b c"])
        #expect(system.words.map(\.value) == ["debian, Linux", "1", "a \"\" \"b c\""])
    }
}
