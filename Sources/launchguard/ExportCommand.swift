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
            shape of the Swift runtime's own crash log.

            Of a state directory, the newest run that died: by a crash, a hang, lack of memory, a kill, a status other than 0 or \
            for an unknown reason. With --all each of them becomes a file in a folder, named as the run file is.

            A file has its name once it is whole, and only its owner may read it.

            EXAMPLES
              launchguard export --format minidump -o crash.dmp /var/lib/notes
              launchguard export --format minidump -o crash.dmp --run 12 device.tar.gz
              launchguard export --format html -o crash.html /var/lib/notes
              launchguard export --format json --all -o reports /var/lib/notes
              lldb -c crash.dmp /usr/bin/notes
              launchguard export --format journal /var/lib/notes | /usr/lib/systemd/systemd-journal-remote -o notes.journal -
            """
    )

    @Argument(help: "A run file, or a state directory or a tarball of one.", completion: .file())
    var target: String?

    @Option(help: ArgumentHelp("json, text, html, journal, swift or minidump.", valueName: "format"))
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

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case json, text, html, journal, swift, minidump

        var suffix: String {
            switch self {
            case .json: ".json"
            case .text: ".txt"
            case .html: ".html"
            case .journal: ".export"
            case .swift: ".crash.json"
            case .minidump: ".dmp"
            }
        }
    }

    func validate() throws {
        guard !all || path != nil else { throw ValidationError("--all needs the folder to write into: -o.") }
        guard !all || runs.run == nil else { throw ValidationError("--all and --run name different runs.") }
        guard path != nil || format != .minidump || isatty(1) == 0 else {
            throw ValidationError("A minidump is no text for a terminal: name a file with -o, or redirect standard output.")
        }
    }

    func run() throws {
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
        let export = try Export(source, format, symbols, isColored: path == nil)
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
                let export = try Export(source, format, symbols, isColored: false)
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

    /// A run that a format cannot carry.
    struct Impossible: Error, CustomStringConvertible {
        var path: String
        var why: String
        var description: String { "\(path): \(why)" }
    }

    init(_ source: String, _ format: ExportCommand.Format, _ symbols: SymbolOptions, isColored: Bool) throws {
        let reader = try Reader(path: source)
        switch format {
        case .json, .text:
            let run = try reader.run()
            let shown = ShownRun(run, symbols)
            var writer = isColored ? Output.makeWriter() : TextWriter()
            if format == .text { shown.write(to: &writer) }
            bytes = format == .text ? writer.bytes : Array(shown.json.utf8)
            isDamaged = run.isDamaged
        case .html:
            let run = try reader.run()
            bytes = ShownRun(run, symbols).page.bytes
            isDamaged = run.isDamaged
        case .journal:
            let run = try reader.run()
            bytes = ShownRun(run, symbols).journal(fingerprint: reader.fingerprint).bytes
            isDamaged = run.isDamaged
        case .swift:
            let run = try reader.run()
            guard var log = ShownRun(run, symbols).swiftLog(fingerprint: reader.fingerprint) else {
                throw Impossible(path: source, why: "a crash log is of a crash, and the run left no record of one; --format json or text says how it ended")
            }
            let memory = try reader.capturedMemory()
            if !memory.isEmpty { log.capturedMemory = memory }
            bytes = Array(log.text.utf8)
            isDamaged = run.isDamaged
        case .minidump:
            do throws(MinidumpProblem) {
                (bytes, isDamaged) = try reader.minidump()
            } catch .unreadable(let error) {
                throw error
            } catch {
                throw Impossible(path: source, why: error.words)
            }
        }
    }
}

extension MinidumpProblem {
    var words: String {
        switch self {
        case .noStack: "a minidump is of stacks, and the run left none; --format json or text says how it ended"
        case .unknownProcessor: "the file does not say that the processor was x86-64 or AArch64; --format json or text has what is there"
        case .tooLarge: "the minidump would be larger than 4 GiB; --format json or text has the rest"
        case .unreadable(let error): "\(error)"
        }
    }
}
