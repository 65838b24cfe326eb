import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReports

/// `launchguard export`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a run in a format that other programs read.",
        discussion: """
            json and text are what inspect prints. html is a page for people, one file that loads nothing: stacks, breadcrumbs on a \
            time axis, launches, the ladder of repairs and the memory map. minidump is for lldb, WinDbg, Sentry, Socorro and other readers of minidumps: \
            all threads with their registers, the bytes of their stacks, modules with build ids, signal, memory map and annotations. \
            The bytes of the stacks hold the program's data; redacted values in them are blanked. journal is for systemd-journal-remote, \
            which makes a journal of it: coredumpctl lists the crash, and journalctl shows the log up to it. swift is a line of JSON in the \
            shape of the Swift runtime's own crash log. sentry is an envelope for Sentry and servers like it, otlp a request in JSON for an \
            OpenTelemetry collector: launchguard-agent writes both, with ~ in the place of home directories.

            Of a state directory, the newest run that died: by a crash, a hang, lack of memory, a kill, a status other than 0 or \
            for an unknown reason. With --all each of them becomes a file in a folder, named as the run file is.

            A file has its name once it is whole, and only its owner may read it.

            EXAMPLES
              launchguard export --format minidump -o crash.dmp /var/lib/notes
              launchguard export --format minidump -o crash.dmp --run 12 device.tar.gz
              launchguard export --format html -o crash.html /var/lib/notes
              launchguard export --format json --all -o reports /var/lib/notes
              lldb -c crash.dmp /usr/bin/notes
              launchguard export --format otlp /var/lib/notes |
                curl -H 'Content-Type: application/json' --data-binary @- \\
                  http://localhost:4318/v1/logs
              launchguard export --format journal /var/lib/notes |
                /usr/lib/systemd/systemd-journal-remote -o notes.journal -
            """
    )

    @Argument(help: "A run file, or a state directory or a tarball of one. Default: $STATE_DIRECTORY, or the current directory.", completion: .file())
    var target: String?

    @Option(help: ArgumentHelp("json, text, html, journal, swift, minidump, sentry or otlp.", valueName: "format"))
    var format: Format

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file to write, or with --all the folder. Default: standard output.", valueName: "path"),
        completion: .file())
    var path: String?

    @Flag(help: "Every run of a state directory that died, a file each in the folder of -o.")
    var all = false

    @OptionGroup var runs: RunOptions
    @OptionGroup var symbols: SymbolOptions
    @OptionGroup var agent: AgentOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json, text, html, journal, swift, minidump, sentry, otlp

        var suffix: String {
            switch self {
            case .json: ".json"
            case .text: ".txt"
            case .html: ".html"
            case .journal: ".export"
            case .swift: ".crash.json"
            case .minidump: ".dmp"
            case .sentry: ".envelope"
            case .otlp: ".otlp.json"
            }
        }

        var isOfAgent: Bool { self == .sentry || self == .otlp }
    }

    func validate() throws {
        guard !all || path != nil else { throw ValidationError("--all needs the folder to write into: -o.") }
        guard !all || runs.run == nil else { throw ValidationError("--all and --run name different runs.") }
        guard path != nil || format != .minidump || isatty(1) == 0 else {
            throw ValidationError("A minidump is no text for a terminal: name a file with -o, or redirect standard output.")
        }
    }

    func run() throws {
        guard !format.isOfAgent || agent.program != nil else {
            Output.complain("--format \(format.rawValue): " + agent.whyMissing)
            throw ExitStatus.nothingFound.code
        }
        switch try Target(target, run: runs.run) {
        case .file(let source):
            guard !all else { throw ValidationError("--all needs a state directory.") }
            try exportOne(source)
        case .directory(let directory):
            let died = try directory.runPaths().lazy.reversed().filter(Self.died)
            guard let newest = died.first else {
                Output.complain("\(directory.path): no run died here; --run names one that ended in another way")
                throw ExitStatus.nothingFound.code
            }
            try all ? exportAll(died.reversed()) : exportOne(newest)
        }
    }

    /// Whether a run ended in a way that nobody wished for. A file that cannot be read did not.
    private static func died(_ path: String) -> Bool {
        let ends: Set<RunEnd> = [.crash, .hang, .oom, .killed, .exit, .unknown]
        guard let run = try? Reader(path: path).summary(), let end = run.verdict?.end else { return false }
        return ends.contains(end)
    }

    private func exportOne(_ source: String) throws {
        let export = try Export(source, self, isColored: path == nil)
        if let path {
            try WholeFile.write(export.bytes, to: Tarball.fromStart(path))
        } else if !WholeFile.write(export.bytes, to: Output.Stream.standard.rawValue) {
            throw ExportError(path: "standard output", problem: errno)
        }
        if export.isDamaged { try ExitStatus.damaged.end() }
    }

    /// What one file cannot give hides no other.
    private func exportAll(_ sources: [String]) throws {
        let folder = Tarball.fromStart(path ?? ".")
        guard try Path.isFolder(folder) == true || Path.makeFolder(folder) else { throw ExportError(path: folder, problem: errno) }
        var status = ExitStatus.nothingFound
        for source in sources {
            do {
                let export = try Export(source, self, isColored: false)
                let name = source.split(separator: "/").last?.dropLast(".lgrun".count) ?? ""
                try WholeFile.write(export.bytes, to: "\(folder)/\(name)\(format.suffix)")
                if status != .damaged { status = export.isDamaged ? .damaged : .success }
            } catch let error as ReportError {
                Output.complain("\(error)")
            } catch let error as Export.Impossible {
                Output.complain("\(error)")
            }
        }
        try status.end()
    }
}

/// One run in a format.
struct Export {
    let bytes: [UInt8]
    let isDamaged: Bool

    init(_ source: String, _ command: ExportCommand, isColored: Bool) throws {
        let reader = try Reader(path: source)
        switch command.format {
        case .json:
            (bytes, isDamaged) = try Self.run(reader) { Array(ShownRun($0, command.symbols).json.utf8) }
        case .text:
            (bytes, isDamaged) = try Self.run(reader) { run in
                var writer = isColored ? Output.makeWriter() : TextWriter()
                ShownRun(run, command.symbols).write(to: &writer)
                return writer.bytes
            }
        case .html:
            (bytes, isDamaged) = try Self.run(reader) { ShownRun($0, command.symbols).page.bytes }
        case .journal:
            (bytes, isDamaged) = try Self.run(reader) { ShownRun($0, command.symbols).journal.bytes }
        case .swift:
            (bytes, isDamaged) = try Self.run(reader) { run in
                guard var log = ShownRun(run, command.symbols).swiftLog else {
                    throw Impossible(source, "a crash log is of a crash, and the run left no record of one; --format json or text says how it ended")
                }
                log.capturedMemory = try reader.capturedMemory()
                return Array(log.text.utf8)
            }
        case .sentry, .otlp:
            (bytes, isDamaged) = try Self.run(reader) { try AgentExport($0, command).bytes }
        case .minidump:
            do throws(MinidumpProblem) {
                (bytes, isDamaged) = try reader.minidump()
            } catch {
                throw try Impossible(source, error)
            }
        }
    }

    private static func run(_ reader: Reader, _ bytes: (RunReport) throws -> [UInt8]) throws -> ([UInt8], Bool) {
        let run = try reader.run()
        return (try bytes(run), run.isDamaged)
    }

    /// A run that a format cannot carry.
    struct Impossible: Error, CustomStringConvertible {
        let description: String
        var status = ExitStatus.nothingFound

        init(_ path: String, _ why: String, status: ExitStatus = .nothingFound) {
            description = "\(path): \(why)"
            self.status = status
        }

        init(_ path: String, _ problem: MinidumpProblem) throws(ReportError) {
            switch problem {
            case .noStack: self.init(path, "a minidump is of stacks, and the run left none; --format json or text says how it ended")
            case .unknownProcessor:
                self.init(path, "the file does not say that the processor was x86-64 or AArch64; --format json or text has what is there")
            case .tooLarge: self.init(path, "the minidump would be larger than 4 GiB; --format json or text has the rest")
            case .unreadable(let error): throw error
            }
        }
    }
}
