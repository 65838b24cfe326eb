import Foundation
import LaunchGuardReportModel
import Testing

/// docs/schema says what each command prints with --json: nothing more, and nothing else.
@Suite struct SchemaTests {
    /// Beside the tool: in the build directory.
    private static let validator = URL(filePath: Tool.path).deletingLastPathComponent().appending(path: "schema-validator").path

    /// Output of the validator; nil: it cannot be installed.
    private func validate(_ paths: [String]) throws -> Tool.Result? {
        let script = Sample.root.appending(path: "Tests/Schema/validate.py").path
        let result = try Tool.run(["python3", "-B", script, Self.validator] + paths, program: "/usr/bin/env")
        guard result.status == 77 || result.status == 127 else { return result }
        print("the schema is not tested: \(result.output)\(result.errors)")
        return nil
    }

    @Test(.timeLimit(.minutes(10))) func everyCommandPrintsWhatTheSchemaSays() async throws {
        let state = try await RecordedState.make()
        let path = state.folder.path
        try state.folder.makeSpool()
        try state.folder.add(SpooledReport(uuid: try state.runUUID, attempts: 3, more: 4, error: "connection refused"), to: "new")
        try state.folder.add(SpooledReport(ordinal: 2, httpStatus: 403), to: "dead")
        try state.folder.write(Array("nonsense".utf8), "runs/00000009-damaged.lgrun")
        let golden = try FileManager.default.subpathsOfDirectory(atPath: Sample.golden(""))
            .filter { $0.hasSuffix(".lgrun") || $0.hasSuffix(".lg") }.map { Sample.golden($0) }
        try #require(golden.count > 10)
        var commands = [
            ["list", path], ["inspect", path], ["inspect", "--memory", "--run", "1", path], ["log", "--run", "1", path], ["verify", path], ["verify", state.runPath],
            ["simulate"], ["simulate", "crash", "crash", "ok", "finish"], ["upload", "--timeout", "1", "--agent", "/bin/true", path],
            ["verdict", path], ["doctor", "/tmp"],
        ]
        commands += golden.flatMap { [["inspect", "--no-symbols", $0], ["verify", $0]] } + golden.filter { $0.hasSuffix(".lgrun") }.map { ["log", $0] }
        var lines = ""
        for command in commands {
            let result = try Tool.run([command[0], "--json"] + command.dropFirst())
            #expect(result.output.isEmpty || result.output.hasSuffix("\n"))
            lines += result.output
        }
        lines += JSONLine.text(try Sample.surrounded()) + "\n"
        let scratch = try TemporaryFolder()
        guard let result = try validate([try scratch.write(Array(lines.utf8), "lines")]) else { return }
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let seen = try #require(result.output.split(separator: "\n").last { $0.hasPrefix("seen: ") })
        for name in ["run", "ledger", "listed-run", "verified-file", "verified-block", "breadcrumb", "delivery-entry", "simulation", "last-end", "finding"] {
            #expect(seen.contains(" \(name)=") && !seen.contains(" \(name)=0"), "\(seen)")
        }
    }

    /// The validator is one: a field that the schema does not know, of another type or missing, is
    /// found, at the top and deep inside.
    @Test(.timeLimit(.minutes(10))) func whatTheSchemaDoesNotSayIsFound() throws {
        let whole = JSONLine.text(try Sample.surrounded())
        let scratch = try TemporaryFolder()
        for (from, to) in [
            ("{\"", "{\"news\":1,\""), ("\"ordinal\":12", "\"ordinal\":\"12\""), ("\"isInlined\":true", "\"isInlined\":true,\"news\":1"), ("\"type\":\"run\"", "\"type\":\"walk\""),
            ("\"lookup\":", "\"look\":"), ("\"2026-01-31T12:00:00.000000001Z\"", "\"2026-01-31\""),
        ] {
            let range = try #require(whole.range(of: from))
            let path = try scratch.write(Array((whole.replacingCharacters(in: range, with: to) + "\n").utf8), "line")
            guard let result = try validate([path]) else { return }
            #expect(result.status == 1 && result.output.contains("line:1: matches no definition"), "\(to): \(result.output)\(result.errors)")
        }
    }
}
