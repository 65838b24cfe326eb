import CLaunchGuard
import Dispatch
import Foundation
import LaunchGuardReportModel
import Testing

@testable import LaunchGuardSymbols
import TestSupport

/// The tool as a user runs it: its output and its exit status.
@Suite struct ToolTests {
    @Test func aRecordedCrashIsShown() async throws {
        let state = try await RecordedState.make()

        let inspect = try Tool.run(["inspect", state.runPath])
        #expect(inspect.status == 0)
        #expect(inspect.output.hasPrefix("access through a NULL pointer at address 0x8 in static Child.readMemory(at:) at RecordedState.swift:"))
        #expect(inspect.output.contains("\n  signal:    SIGSEGV (fault.null_offset) at address 0x8\n"))
        #expect(inspect.output.contains("evidence: the run file holds a crash record"))
        #expect(inspect.output.contains(#"last \x1B[31mwords"#))
        #expect(!inspect.output.contains("\u{1B}"))
        #expect(inspect.output.contains("main: launching"))

        let json = try Tool.run(["inspect", "--json", state.runPath])
        let report: RunReport = try JSONLine.value(from: json.output)
        #expect(report.crash?.address == Address(8))
        #expect(report.breadcrumbs?.entries.first?.text == "first words")
        #expect(report.breadcrumbs?.entries.last?.text == "last \u{1B}[31mwords")
        #expect(report.crash?.stages.contains(.done) == true)
        let frames = try #require(report.crash?.stack?.frames)
        #expect(frames[0].lookup == frames[0].address)
        #expect(frames.dropFirst().allSatisfy { $0.lookup.value == $0.address.value - 1 }, "callers have return addresses")

        let directory = try Tool.run(["inspect", state.folder.path])
        #expect(directory.status == 0)
        #expect(directory.output.contains("streak 1 (report after 1, repair after 2)"))
        #expect(directory.output.contains("  ╞═ 0  leave out the suspect task  impact 0    ○  built in, never tried\n"))
        #expect(directory.output.contains("because the run file holds a crash record\n"))
        #expect(directory.output.contains("✗ its end counted"))
        #expect(directory.output.contains("not yet counted"))
    }

    @Test func framesOfARecordedCrashHaveFunctionsAndLines() async throws {
        let state = try await RecordedState.make()
        let inspect = try Tool.run(["inspect", state.runPath])
        try #require(!inspect.errors.contains("llvm-symbolizer was not found"))
        let first = try #require(inspect.output.split(separator: "\n").first { $0.hasPrefix("#0") })
        #expect(first.contains(/in static Child.readMemory\(at:\) \+ \d+ at .*RecordedState.swift:\d+/))
        let bare = try Tool.run(["inspect", "--no-symbols", state.runPath])
        #expect(!bare.output.contains("readMemory"))
    }

    @Test func theReasonOfATrapIsItsMessage() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            _ = Child(path)
            Child.overflow(by: .max)
        }
        let inspect = try Tool.run(["inspect", "--run", "1", folder.path])
        let first = try #require(inspect.output.split(separator: "\n").first)
        #expect(first.contains(#/^arithmetic overflow in static Child\.overflow\(by:\) at RecordedState\.swift:\d+ of /#))
        #expect(inspect.output.contains(#/\n  signal:    SIG\w+ \(trap\.swift\.overflow\)/#))
        #expect(!inspect.output.contains("Swift runtime failure"))
        let list = try Tool.run(["list", folder.path])
        #expect(list.output.contains(#/crash  arithmetic overflow in static Child\.overflow\(by:\) at RecordedState\.swift:\d+\n/#), "\(list.output)")
        let json = try Tool.run(["list", "--json", folder.path]).output
        #expect(json.contains(#""reason":"trap.swift.overflow""#) && json.contains(#""message":"arithmetic overflow""#))
        #expect(try Tool.run(["inspect", "--run", "2", folder.path]).status == 1)
    }

    @Test func aTrapOfLibdispatchIsNamed() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .failure) { [path = folder.path as String] in
            _ = Child(path)
            DispatchQueue(label: "other").sync { dispatchPrecondition(condition: .notOnQueue(DispatchQueue(label: "third"))) }
            dispatchPrecondition(condition: .onQueue(DispatchQueue(label: "other")))
        }
        let report: RunReport = try JSONLine.value(from: try Tool.run(["inspect", "--json", "--run", "1", folder.path]).output)
        #expect(report.crash?.reason == "trap.dispatch")
        #expect(report.crash?.kind.hasPrefix("trap.") == true)
    }

    @Test func everythingAroundACrashIsShown() throws {
        let text = try Tool.run(["inspect", Sample.goldenPath])
        #expect(text.status == 0)
        #expect(text.output.contains("\n  exception: std::runtime_error\n"))
        #expect(text.output.contains("\n  threads 4712, 4713 (2) \"worker\", sleeping\n"))
        #expect(!text.output.contains("\u{1B}") && !text.output.contains("r--s"))
        #expect(try Tool.run(["inspect", "--map", Sample.goldenPath]).output.contains("  r--s  /var/lib/example/data with spaces\n"))
        let bare: RunReport = try JSONLine.value(from: try Tool.run(["inspect", "--json", Sample.goldenPath]).output)
        #expect(bare.crash?.memory?.count == 3 && bare.crash?.memory?[0].bytes == nil)
        #expect(bare.crash?.messages?[1].text == "St13runtime_error" && bare.crash?.messages?[1].demangled == "std::runtime_error")
        let full: RunReport = try JSONLine.value(from: try Tool.run(["inspect", "--json", "--memory", Sample.goldenPath]).output)
        #expect(full.crash?.memory?[0].bytes?.count == 400)
        let verify = try Tool.run(["verify", Sample.goldenPath])
        #expect(verify.status == 0 && verify.output.contains("3 chunks, 264 bytes, 1 of them cut for lack of room"))
    }

    @Test func theNewestFilesAreShown() throws {
        let ledger = try Tool.run(["inspect", Sample.golden("ledger.lg")])
        #expect(ledger.status == 0 && ledger.output.contains("trial: the normal launch is tried"))
        let report: LedgerReport = try JSONLine.value(from: try Tool.run(["inspect", "--json", Sample.golden("story.lg")]).output)
        #expect(report == (try Reader(path: report.path).ledger()))
        let run = try Tool.run(["inspect", Sample.golden("later.lgrun")])
        #expect(run.output.contains("announced    that it would be started again, after 8.000 s\n"))
        #expect(run.output.contains("witness      another process waited for it: it was ended by SIGKILL\n"))
        #expect(run.output.contains("hang         it was hanging from 7.000 s after the start on\n"))
        #expect(run.output.contains("memory       the kernel had ended 3 processes of its cgroup before it started\n"))
        #expect(run.output.contains("context      sync: held for a repair, begun after 500.000 ms\n"))
        #expect(run.output.contains("          main: its own modules are libplayer.so, libcodec.so.2\n"))
        let task = try Tool.run(["inspect", Sample.golden("task.lgrun")])
        #expect(task.output.contains(/context      main: launching after .*, not finished, in the task "work" of thread \d+, window 60000 ms/))
        let verify = try Tool.run(["verify", Sample.golden("story.lg")])
        #expect(verify.status == 0 && verify.output.contains("2 contexts, 14 runs, 9536 bytes"))
    }

    /// First the event and its place, then the evidence, then the stacks.
    @Test func aHangIsShownWithItsCauseFirst() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            alarm(20)
            Child(path, hangMilliseconds: 150).hang(path)
        }
        let runPath = try #require(try StateDirectory(path: path).runPaths().last)
        let run = try Tool.run(["inspect", runPath])
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(try #require(lines.first).contains(/^hung: its .*thread.* stood still.* for at least .*s, until it was ended; the last heartbeat came .*s after the start$/))
        #expect(lines[1] == "  evidence: the process was marked as hanging and left no other mark")
        #expect(run.output.contains(/\nstarted      .*, lived at least .*s\n/))
        let stacks = try #require(lines.firstIndex { $0.hasPrefix("stacks while it hung, taken after ") })
        #expect(lines[stacks + 1].hasSuffix(", which hung"))
        #expect(stacks < (lines.firstIndex(of: "run loops and jobs") ?? 0))
        let list = try Tool.run(["list", "--json", path])
        guard LLVMSymbolizer.find() != nil else { return }
        #expect(lines[0].contains("standStill()") && list.output.contains("\"place\":\"in "), "\(lines[0])")
    }

    @Test func aLedgerOfANewerFormIsNotRead() throws {
        let folder = try TemporaryFolder()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: Sample.golden("story.lg"))))
        bytes[12] = 2
        let crc = CRC32C.of(bytes.prefix(496))
        for index in 0..<4 { bytes[496 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index))) }
        let path = try folder.write(bytes, "ledger.lg")
        for command in ["inspect", "verify"] {
            let result = try Tool.run([command, path])
            #expect(result.status == 3 && result.errors.contains("newer, incompatible version"))
        }
        let directory = try Tool.run(["inspect", folder.path])
        #expect(directory.status == 1 && directory.output.contains("ledger: newer: a file was written by a newer, incompatible version"))
    }

    @Test func theLogIsFiltered() async throws {
        let state = try await RecordedState.make()
        let all = try Tool.run(["log", state.runPath])
        #expect(all.output.contains("first words") && all.output.hasSuffix(#"last \x1B[31mwords"# + "\n"))
        let last = try Tool.run(["log", "-n", "1", state.runPath])
        #expect(last.output.split(separator: "\n").count == 1 && all.output.hasSuffix(last.output))
        let errors = try Tool.run(["log", "-p", "error", "--json", state.runPath])
        #expect(try JSONLine.value(Breadcrumb.self, from: errors.output).level == .error)
        let none = try Tool.run(["log", "-p", "critical", state.runPath])
        #expect(none.status == 1 && none.output.isEmpty)
        let followed = try Tool.run(["log", "-f", state.runPath])
        #expect(followed.status == 0, "following a dead process ends")
        #expect(followed.errors.contains(" through a NULL pointer "))
    }

    /// `log -f`, from the first run of the folder on.
    private func follow(_ path: String) async throws -> Tool.Result {
        try await Task.detached {
            try await waitUntil("the run begins") { try !StateDirectory(path: path).runPaths().isEmpty }
            return try Tool.run(["log", "-f", path])
        }.value
    }

    @Test func aLivingProcessIsFollowedToItsEnd() async throws {
        let folder = try TemporaryFolder()
        async let followed = follow(folder.path)
        await #expect(processExitsWith: .exitCode(7)) { [path = folder.path as String] in
            let child = Child(path)
            for number in 0..<10 {
                passTime(.milliseconds(100), why: "the follower sees the entries come")
                child.log(LG_LEVEL_INFO, "entry \(number)")
            }
            exit(7)
        }
        let result = try await followed
        #expect(result.status == 0)
        #expect(result.errors.contains("exit: exit status 7"))
        let entries = result.output.split(separator: "\n").filter { $0.contains("entry ") }
        #expect(entries.map { $0.suffix(7) } == (0..<10).map { "entry \($0)" })
    }

    @Test func aFollowerSaysHowMuchItMissed() async throws {
        let folder = try TemporaryFolder()
        async let followed = follow(folder.path)
        await #expect(processExitsWith: .exitCode(7)) { [path = folder.path as String] in
            let child = Child(path)
            for burst in 0..<8 {  // each is more than the ring log holds
                for _ in 0..<20_000 { child.log(LG_LEVEL_INFO, "entry of burst \(burst)") }
                passTime(.milliseconds(250), why: "the follower reads what is there")
            }
            exit(7)
        }
        let result = try await followed
        let missed = result.errors.matches(of: /missed (\d+) breadcrumbs?: overwritten/).compactMap { Int($0.1) }
        let earlier = result.errors.firstMatch(of: /(\d+) earlier breadcrumbs? w/).flatMap { Int($0.1) } ?? 0
        // Each breadcrumb was printed, missed or overwritten before; some are LaunchGuard's own. A
        // follower that is late, on a busy machine, misses none.
        let count = missed.reduce(earlier + result.output.split(separator: "\n").count, +)
        #expect((160_000...160_050).contains(count))
    }

    @Test func aDamagedFileHidesNoOther() async throws {
        let state = try await RecordedState.make()
        try state.folder.write(Array("nonsense".utf8), "runs/000-damaged.lgrun")
        let list = try Tool.run(["list", state.folder.path])
        #expect(list.status == 3)
        #expect(list.output.contains("000-damaged.lgrun: damaged"))
        #expect(list.output.contains(#/ crash +access through a NULL pointer /#))
        let json = try Tool.run(["list", "--json", state.folder.path])
        #expect(json.output.split(separator: "\n").count == 3)
        let inspect = try Tool.run(["inspect", state.folder.path])
        #expect(inspect.status == 3)
        #expect(inspect.output.contains("org.example.reports"))
        #expect(inspect.output.contains("000-damaged.lgrun: damaged"))
    }

    @Test func verifyFindsDamage() async throws {
        let state = try await RecordedState.make()
        for path in [state.runPath, state.directory.ledgerPath] {
            let whole = try Tool.run(["verify", path])
            #expect(whole.status == 0)
            #expect(whole.output.hasSuffix("\(path): whole\n"))
        }
        let copy = try state.folder.write([UInt8](try Data(contentsOf: URL(filePath: state.runPath))).dropLast(4096), "cut.lgrun")
        #expect(try Tool.run(["verify", copy]).status == 3)
        let json = try Tool.run(["verify", "--json", state.runPath])
        #expect(try json.output.split(separator: "\n").allSatisfy { try JSONLine.value(Reader.Block.self, from: String($0)).status != "damaged" })
    }

    private static let commandLines: [(arguments: [String], status: Int32)] = [
        (["list", "/nonexistent"], 1), (["inspect", "/nonexistent"], 1), (["log", "/nonexistent"], 1),
        (["verify", "/nonexistent"], 1), (["inspect", "/dev"], 1), (["inspect", "/etc/passwd"], 3), (["verify", "/etc/passwd"], 3),
        (["verify", "/dev"], 1), (["list", "/etc/passwd"], 3), (["verify"], 2), (["frobnicate"], 2), (["help", "frobnicate"], 2), (["list", "--since", "soon"], 2), (["list", "--end", "death"], 2), (["list", "-n", "-1"], 2),
        (["inspect", "--last", "/dev/null"], 2), (["inspect", "--last", "--run", "3", "/dev"], 2), (["upload", "/nonexistent.tar"], 1), (["log", "-p", "loud"], 2),
        (["log", "-n", "-1"], 2), (["inspect", "--nonsense"], 2), (["inspect", "--memory", "/dev/null"], 2), (["--help"], 0), (["help", "log"], 0), (["--version"], 0), ([], 0),
    ]

    @Test(arguments: commandLines)
    func exitStatus(arguments: [String], status: Int32) throws {
        let result = try Tool.run(arguments)
        #expect(result.status == status)
        #expect(status == 0 ? !result.output.isEmpty : result.output.isEmpty && !result.errors.isEmpty)
    }

    @Test func theStateDirectoryIsFound() async throws {
        let state = try await RecordedState.make()
        let byVariable = try Tool.run(["list"], variables: ["STATE_DIRECTORY": "\(state.folder.path):/nonexistent"])
        #expect(byVariable.status == 0)
        let byFolder = try Tool.run(["list"], folder: state.folder.path)
        #expect(byFolder.output == byVariable.output)
        let nowhere = try Tool.run(["list"], folder: "/")
        #expect(nowhere.status == 2)
        #expect(nowhere.errors.contains("set STATE_DIRECTORY"))
    }

    /// Linux names files by bytes.
    @Test func aPathNeedNotBeText() async throws {
        let state = try await RecordedState.make()
        let copy = try Tool.shell(#"at=$(printf 'caf\351 \364\217\277\251'); mkdir "$1/$at" && cp -r "$1/ledger.lg" "$1/runs" "$1/$at""#, state.folder.path)
        #expect(copy.status == 0)
        for command in ["list", "inspect", "log --run 1", "inspect --json --run 1"] {
            let result = try Tool.shell(#"exec "$0" \#(command) "$1/$(printf 'caf\351 \364\217\277\251')""#, state.folder.path)
            #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
        }
        let file = try Tool.shell(#"exec "$0" verify "$1"/caf*/runs/00000001-*"#, state.folder.path)
        #expect(file.output.contains(#"/caf\xE9 \xF4\x8F\xBF\xA9/runs/00000001-"#) && file.output.hasSuffix(": whole\n"))
        let missing = try Tool.shell(#"exec "$0" list "$(printf '/no\377')""#, "")
        #expect(missing.status == 1 && missing.errors == "launchguard: /no\\xFF: there is no such file\n")
    }

    /// Not "no run has been recorded".
    @Test(arguments: ["/runs", ""]) func aFolderThatMayNotBeReadIsAnError(part: String) async throws {
        let state = try await RecordedState.make()
        let path = state.folder.path
        #expect(unsafe chmod(path + part, 0) == 0)
        defer { unsafe chmod(path + part, 0o700) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            if getuid() == 0 { guard setgid(65534) == 0, setuid(65534) == 0 else { exit(2) } }
            do throws(ReportError) {
                _ = try StateDirectory(path: path).runPaths()
                exit(3)
            } catch {
                exit(error.code == .permission ? 0 : 4)
            }
        }
    }

    @Test func theVersionIsTheLibrarys() throws {
        #expect(try Tool.run(["--version"]).output == Reader.libraryVersion + "\n")
    }
}

/// Runs the tool that was built beside the tests.
enum Tool {
    struct Result {
        var status: Int32
        var output: String
        var errors: String
    }

    static let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "launchguard").path

    /// The tool is `$0` of the script, the argument `$1`.
    static func shell(_ script: String, _ argument: String) throws -> Result {
        try run(["-c", script, path, argument], program: "/bin/sh")
    }

    static func run(_ arguments: [String], variables: [String: String] = [:], folder: String = "/", program: String = path) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder)
        // What `launchguard run` has made for the user of the tests is none of the tests.
        process.environment = ProcessInfo.processInfo.environment.merging(["LAUNCHGUARD_DIRECTORY": "/nonexistent"]) { $1 }.merging(variables) { $1 }
        if variables.isEmpty { process.environment?["STATE_DIRECTORY"] = nil }
        let scratch = try TemporaryFolder()
        let (output, errors) = (try scratch.write([], "output"), try scratch.write([], "errors"))
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try process.run()
        process.waitUntilExit()
        return Result(
            status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: try String(contentsOfFile: output, encoding: .utf8), errors: try String(contentsOfFile: errors, encoding: .utf8))
    }
}
