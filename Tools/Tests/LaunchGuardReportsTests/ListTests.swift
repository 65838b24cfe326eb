import Foundation
import LaunchGuardReportModel
import Testing

/// `launchguard list`, and what other commands say of a folder with several state directories.
@Suite struct ListTests {
    private struct Listed: Decodable {
        var ordinal: UInt64?
        var started: Timestamp?
    }

    private func ordinals(_ arguments: [String]) throws -> [UInt64?] {
        try Tool.run(["list", "--json"] + arguments).output.split(separator: "\n").map { try JSONLine.value(Listed.self, from: String($0)).ordinal }
    }

    private func firstWords(_ arguments: [String]) throws -> [String] {
        try Tool.run(["list", "--no-symbols"] + arguments).output.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test func theNewestRunIsFirst() async throws {
        let state = try await RecordedState.make()
        let path = state.folder.path
        #expect(try firstWords([path]) == ["org.example.reports", "#2", "#1"])
        #expect(try firstWords(["--reverse", path]) == ["org.example.reports", "#1", "#2"])
        #expect(try firstWords(["-n", "1", path]) == ["org.example.reports", "#2"])
        #expect(try ordinals([path]) == [2, 1] && ordinals(["-r", path]) == [1, 2])
        #expect(try ordinals(["-n", "1", "-r", path]) == [2] && ordinals(["-n", "9", path]) == [2, 1])
        let last = try Tool.run(["inspect", "--json", "--last", path])
        #expect(try JSONLine.value(RunReport.self, from: last.output).identity?.ordinal == 2)
    }

    @Test func runsAreChosenByEndAndStart() async throws {
        let state = try await RecordedState.make()
        let path = state.folder.path
        #expect(try ordinals(["--end", "crash", path]) == [1])
        #expect(try ordinals(["--end", "crash", "--end", "unknown", "--end", "exit", "--end", "clean", path]) == [2, 1])
        #expect(try ordinals(["-n", "1", "--end", "crash", "--since", "1h", path]) == [1])
        #expect(try ordinals(["--since", "0s", path]).isEmpty && ordinals(["--since", "2001-01-01", path]) == [2, 1])
        let none = try Tool.run(["list", "--end", "oom", path])
        #expect(none.status == 1 && none.errors == "launchguard: \(path): no such run\n")
        // Nothing else is known about a damaged file.
        try state.folder.write(Array("nonsense".utf8), "runs/00000009-damaged.lgrun")
        #expect(try Tool.run(["list", path]).status == 3 && Tool.run(["list", "--since", "1h", path]).status == 3)
        #expect(try Tool.run(["list", "--end", "crash", path]).status == 0)
    }

    @Test(arguments: [
        (["list", "--end", "crsh"], "Did you mean 'crash'? The ends are: clean, terminated, crash,"), (["list", "--end", "zzz"], "no end of a run. The ends are: "),
        (["lsit"], "'lsit' is no command. Did you mean 'list'?"), (["help", "verfy"], "Did you mean 'verify'?"), (["list", "--revrse"], "Did you mean '--reverse'?"),
        (["/usr"], "'launchguard list /usr' shows what is there"), (["list", "--since", "tomorrow"], "3d, 1w, 2026-11-01"),
    ])
    func aTypoHasAHelpfulWord(arguments: [String], words: String) throws {
        let result = try Tool.run(arguments)
        #expect(result.status == 2 && result.output.isEmpty && result.errors.contains(words), "\(result.errors)")
    }

    @Test func timesAreLocal() async throws {
        let state = try await RecordedState.make()
        let json = try Tool.run(["list", "--json", "-n", "1", state.folder.path], variables: ["TZ": "UTC-9"])
        let started = try #require(try JSONLine.value(Listed.self, from: json.output).started)
        for (zone, hours) in [("UTC0", 0), ("UTC-9", 9), ("UTC+3:30", -3.5)] {
            let local = Timestamp(nanoseconds: UInt64(Double(started.nanoseconds / 1_000_000_000) + hours * 3600) * 1_000_000_000).description
            let text = "\(local.prefix(10)) \(local.dropFirst(11).prefix(8))  "
            #expect(try Tool.run(["list", state.folder.path], variables: ["TZ": zone]).output.contains(text), "\(zone): \(text)")
        }
    }

    /// Only there: a file and a pipe get whole lines.
    @Test func linesEndAtTheLastColumnOfATerminal() async throws {
        let state = try await RecordedState.make()
        try #require(FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "script(1) of Debian's bsdutils makes the terminal")
        func lines(_ command: String, _ columns: Int) throws -> [String] {
            let script = #"TERM=xterm exec script -qec "stty cols \#(columns); \#(command) '$0' list --no-symbols '$1'" /dev/null"#
            return try Tool.shell(script, state.folder.path).output.split(separator: "\r\n").map { String($0).replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        }
        let whole = try Tool.run(["list", "--no-symbols", state.folder.path], variables: ["COLUMNS": "20"]).output.split(separator: "\n")
        try #require(whole.contains { $0.count > 60 })
        for columns in [20, 40, 60] {
            let cut = try lines("unset COLUMNS;", columns)
            #expect(cut.count == whole.count && cut.allSatisfy { $0.count <= columns } && cut.contains { $0.hasSuffix("…") }, "\(cut)")
        }
        #expect(try lines("COLUMNS=30", 70).map(\.count).max() == 30)
        #expect(try lines("unset COLUMNS;", 200).map { $0.trimmingCharacters(in: .whitespaces) } == whole.map { $0.trimmingCharacters(in: .whitespaces) })
    }

    @Test(arguments: [
        ("short", 5, "short"), ("longer", 5, "long…"), ("日本語です", 10, "日本語です"), ("日本語です", 9, "日本語で…"), ("日本語です", 8, "日本語…"), ("x", 1, "x"), ("xy", 1, "…"),
        ("\u{1B}[31mred\u{1B}[0m and plain", 5, "\u{1B}[31mred\u{1B}[0m …"), ("\u{1B}[1;31mall of it is red\u{1B}[0m", 4, "\u{1B}[1;31mall…\u{1B}[0m"), ("\u{1B}[1mbold\u{1B}[0m", 4, "\u{1B}[1mbold\u{1B}[0m"),
    ])
    func aLineIsCut(line: String, columns: Int, cut: String) {
        #expect(TextWriter.cut(line, to: columns) == cut)
    }

    @Test func aFolderOfSeveralHasEachBelowItsPath() async throws {
        let (first, second) = (try await RecordedState.make(), try await RecordedState.make())
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: second.folder.path, toPath: folder.path + "/b")
        #expect(try Tool.run(["list", folder.path]).output.hasPrefix("org.example.reports"), "one needs no path")
        try FileManager.default.copyItem(atPath: first.folder.path, toPath: folder.path + "/a")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: first.folder.path)
        try folder.write([], "c/notes.txt")
        let list = try Tool.run(["list", "-n", "1", folder.path])
        #expect(list.status == 0 && list.output.contains(#/^/.+/a:\norg.example.reports.*\n#2 .*\n\n/.+/b:\norg.example.reports.*\n#2 .*\n$/#), "\(list.output)")
        #expect(try ordinals([folder.path]) == [2, 1, 2, 1])
        let recorded = ["LAUNCHGUARD_DIRECTORY": folder.path]
        #expect(try Tool.run(["list", "-n", "1"], variables: recorded).output == list.output, "what `launchguard run` has made")
        #expect(try Tool.run(["verdict"], variables: recorded).errors.contains("No state directory is known"))
        let newest = try Tool.run(["inspect", "--json", "--last"], variables: recorded).output
        #expect(newest == (try Tool.run(["inspect", "--json", "--last", folder.path + "/b"]).output) && newest.contains("\(folder.path)/b/runs/"))
        let none = try Tool.run(["inspect", "--last", "reboot", folder.path])
        #expect(none.status == 1 && none.errors.contains("2 state directories: no run here has the end reboot"))
        for command in ["inspect", "log"] {
            let result = try Tool.run([command, folder.path])
            #expect(result.status == 2 && result.errors.contains("holds 2 state directories; name one of them:\n  \(folder.path)/a\n  \(folder.path)/b\n"))
        }
        #expect(try Tool.run(["verify", folder.path]).output == "\(folder.path)/a: 3 files, 3 whole\n\(folder.path)/b: 3 files, 3 whole\n")
        #expect(try Tool.run(["list", folder.path + "/c"]).errors.contains("/c: not a state directory, as it holds neither"))
        #expect(try Tool.run(["list", folder.path + "/c"]).errors.contains("down to two levels: name a deeper one"))
    }

    @Test func verifyOfADirectoryShowsFilesWithDamage() async throws {
        let state = try await RecordedState.make()
        let path = state.folder.path
        #expect(try Tool.run(["verify"], variables: ["STATE_DIRECTORY": path]).output == "\(path): 3 files, 3 whole\n")
        try state.folder.write([UInt8](try Data(contentsOf: URL(filePath: state.runPath))).dropLast(4096), "runs/00000003-cut.lgrun")
        try state.folder.write(Array("nonsense".utf8), "runs/00000004-nonsense.lgrun")
        let text = try Tool.run(["verify", path])
        #expect(text.status == 3)
        #expect(text.output.contains("/runs/00000003-cut.lgrun: ") && text.output.contains("/runs/00000004-nonsense.lgrun: it is not a run file"))
        #expect(text.output.split(separator: "\n").count == 3 && text.output.hasSuffix("\n\(path): 5 files, 3 whole, 2 damaged\n"))
        let json = try Tool.run(["verify", "--json", path])
        #expect(json.status == 3 && json.output.matches(of: /"isWhole":true/).count == 3 && json.output.matches(of: /"isWhole":false/).count == 2)
        let empty = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: empty.path + "/runs", withIntermediateDirectories: false)
        #expect(try Tool.run(["verify", empty.path]).status == 1)
    }

    private static let now = Timestamp("2026-03-29T12:00:00.000000000Z")!

    @Test(arguments: [
        ("90s", "2026-03-29T11:58:30"), ("90m", "2026-03-29T10:30:00"), ("3d", "2026-03-26T12:00:00"), ("1w", "2026-03-22T12:00:00"), ("99999999999999w", "1970-01-01T00:00:00"),
        ("2026-01-31T12:34:56.789Z", "2026-01-31T12:34:56"), ("2026-01-31 12:34Z", "2026-01-31T12:34:00"), ("2026-01-31T12:34+02:00", "2026-01-31T10:34:00"),
        ("2026-01-31T12:34:56-0330", "2026-01-31T16:04:56"),
    ])
    func aTimeThatAPersonWrites(text: String, time: String) {
        #expect(Timestamp(since: text, now: Self.now)?.description.hasPrefix(time) == true)
    }

    @Test(arguments: ["", "d", "3", "-3d", "3 d", "3y", "2026", "2026-02-30", "2026-1-1", "2026-01-01T25:00", "2026-01-01T12", "2026-01-01T12:00+2", "2026-01-01T12:00Zulu", "now", "２d"])
    func textThatIsNoTime(text: String) {
        #expect(Timestamp(since: text, now: Self.now) == nil)
    }

    @Test func aDayBeginsAtLocalMidnight() throws {
        for text in ["2026-01-31", "2026-01-31 00:00", "2026-01-31T00:00:00"] {
            #expect(try #require(Timestamp(since: text)).localText == "2026-01-31 00:00:00")
        }
    }
}
