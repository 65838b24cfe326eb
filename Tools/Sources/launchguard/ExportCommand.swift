import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

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
            OpenTelemetry collector: launchguard-agent writes both, with ~ in the place of home directories, and functions have names where symbols are here.

            A state directory stands for its newest run that died: by a crash, a hang, lack of memory, a kill, a status other than 0 or \
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

    @Argument(help: "A run file, or a state directory or a tarball of one. Default: $STATE_DIRECTORY, or the current directory, or what launchguard run has made.", completion: .file())
    var target: String?

    @Option(help: ArgumentHelp("json, text, html, journal, swift, minidump, sentry or otlp.", valueName: "format"))
    var format: Format

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file to write, or with --all the folder. Default, and -: standard output.", valueName: "path"),
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

    /// Where to write; nil: to standard output.
    private var file: String? { path == "-" ? nil : path }

    func validate() throws {
        guard !all || file != nil else { throw ValidationError("--all needs the folder to write into: -o.") }
        guard !all || runs.isWhole else { throw ValidationError("--all and \(runs.run == nil ? "--last" : "--run") name different runs.") }
        guard file != nil || format != .minidump || isatty(1) == 0 else {
            throw ValidationError("A minidump is no text for a terminal: name a file with -o, or redirect standard output.")
        }
    }

    func run() throws {
        guard !format.isOfAgent || agent.program != nil else {
            Output.complain("--format \(format.rawValue): " + agent.whyMissing)
            throw ExitStatus.nothingFound.code
        }
        switch try runs.target(target) {
        case .file(let source):
            guard !all else { throw ValidationError("--all needs a state directory.") }
            if try exportOne(source) { try ExitStatus.damaged.end() }
        case .directory(let directory):
            try all ? exportAll(directory) : exportNewest(directory)
        }
    }

    /// Whether a run ended in a way that nobody wished for.
    private static func died(_ path: String) throws -> Bool {
        try Reader(path: path).summary().verdict?.end.isBad ?? true
    }

    /// Whether the run is damaged.
    private func exportOne(_ source: String) throws -> Bool {
        let export = try Export(source, self, .init(ofRun: source), isColored: file == nil)
        if let path = file {
            try WholeFile.write(export.bytes, to: Tarball.fromStart(path))
        } else if !WholeFile.write(export.bytes, to: Output.Stream.standard.rawValue) {
            throw ExportError(path: "standard output", problem: errno)
        }
        return export.isDamaged
    }

    /// A newer file that cannot be read may be of a run that died: it is named.
    private func exportNewest(_ directory: StateDirectory) throws {
        var isDamaged = false
        for source in try directory.runPaths().reversed() {
            do {
                guard try Self.died(source) else { continue }
            } catch let error as ReportError {
                Output.complain("\(error)")
                isDamaged = isDamaged || ExitStatus(error) == .damaged
                continue
            }
            isDamaged = try exportOne(source) || isDamaged
            return try (isDamaged ? ExitStatus.damaged : .success).end()
        }
        try complainOfNone(directory, isDamaged)
    }

    /// A file that cannot be exported hides no other.
    private func exportAll(_ directory: StateDirectory) throws {
        let folder = Tarball.fromStart(file ?? ".")
        let paths = try directory.runPaths()
        let surroundings = ShownRun.Surroundings(ofRun: paths.first ?? "")
        var died = 0, written = 0
        var isDamaged = false
        var progress = Progress()
        defer { progress.end() }
        for source in paths {
            do {
                guard try Self.died(source) else { continue }
                guard try died > 0 || ReportPath.isFolder(folder) == true || ReportPath.makeFolder(folder) else { throw ExportError(path: folder, problem: errno) }
                died += 1
                let export = try Export(source, self, surroundings, isColored: false)
                let name = source.split(separator: "/").last?.dropLast(".lgrun".count) ?? ""
                try WholeFile.write(export.bytes, to: "\(folder)/\(name)\(format.suffix)")
                isDamaged = isDamaged || export.isDamaged
                written += 1
                progress.show("\(written) runs exported")
            } catch let error as ReportError {
                progress.end()
                Output.complain("\(error)")
                isDamaged = isDamaged || ExitStatus(error) == .damaged
            } catch let error as Export.Impossible {
                progress.end()
                Output.complain("\(error)")
                isDamaged = isDamaged || error.status == .damaged
            }
        }
        guard died > 0 else { return try complainOfNone(directory, isDamaged) }
        try (isDamaged ? ExitStatus.damaged : written > 0 ? .success : .nothingFound).end()
    }

    private func complainOfNone(_ directory: StateDirectory, _ isDamaged: Bool) throws {
        Output.complain("\(directory.path): no run died here\(isDamaged ? " that can be read" : ""); --run names one that ended in another way")
        try (isDamaged ? ExitStatus.damaged : .nothingFound).end()
    }
}

/// One run in a format.
struct Export {
    let bytes: [UInt8]
    let isDamaged: Bool

    init(_ source: String, _ command: ExportCommand, _ surroundings: ShownRun.Surroundings, isColored: Bool) throws {
        let reader = try Reader(path: source)
        switch command.format {
        case .json:
            (bytes, isDamaged) = try Self.run(reader) { Array(ShownRun($0, command.symbols, surroundings).json.utf8) }
        case .text:
            (bytes, isDamaged) = try Self.run(reader) { run in
                var writer = isColored ? Output.makeWriter() : TextWriter()
                ShownRun(run, command.symbols, surroundings).write(to: &writer)
                return writer.bytes
            }
        case .html:
            (bytes, isDamaged) = try Self.run(reader) { ShownRun($0, command.symbols, surroundings).page.bytes }
        case .journal:
            (bytes, isDamaged) = try Self.run(reader) { ShownRun($0, command.symbols, surroundings).journal.bytes }
        case .swift:
            (bytes, isDamaged) = try Self.run(reader) { run in
                guard var log = ShownRun(run, command.symbols, surroundings).swiftLog else {
                    let none = run.isDamaged ? "what is readable of the file holds" : "the run left"
                    throw Impossible(source, "a crash log is of a crash, and \(none) no record of one; --format json or text says how it ended", isDamaged: run.isDamaged)
                }
                log.capturedMemory = try reader.capturedMemory()
                return Array(log.text.utf8)
            }
        case .sentry, .otlp:
            (bytes, isDamaged) = try Self.run(reader) { try AgentExport($0, command, surroundings).bytes }
        case .minidump:
            do throws(MinidumpProblem) {
                (bytes, isDamaged) = try reader.minidump { ShownRun($0, command.symbols, surroundings).report }
            } catch {
                throw try Impossible(source, error, isDamaged: reader.run().isDamaged)
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
        let status: ExitStatus

        init(_ path: String, _ why: String, isDamaged: Bool = false) {
            description = "\(path): \(why)"
            status = isDamaged ? .damaged : .nothingFound
        }

        init(_ path: String, _ problem: MinidumpProblem, isDamaged: Bool) throws(ReportError) {
            let why =
                switch problem {
                case .noStack:
                    "a minidump is of stacks, and \(isDamaged ? "what is readable of the file holds" : "the run left") none; --format json or text says how it ended"
                case .unknownProcessor: "the file does not say that the processor was x86-64 or AArch64; --format json or text has what is there"
                case .tooLarge: "the minidump would be larger than 4 GiB; --format json or text has the rest"
                case .unreadable(let error): throw error
                }
            self.init(path, why, isDamaged: isDamaged)
        }
    }
}
