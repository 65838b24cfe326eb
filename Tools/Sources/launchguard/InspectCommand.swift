import ArgumentParser
import LaunchGuardReportModel

/// `launchguard inspect`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show one run, or the ledger of an application.",
        discussion: """
            For a run file: the cause in one sentence, the messages of the program, the evidence, the crashed thread with functions \
            and source lines, the other threads (those with the same stack in one block), registers, figures of the process \
            and the system, what guards found, the last lines of standard error, the last breadcrumbs, modules, and the missing parts. For a state \
            directory or a ledger: the last bad end in one sentence, each context with mode, streak, thresholds, suspects and ladder, \
            and the timeline of runs with the evidence for each end and the events of each launch.

            Functions come from the program files of this machine, if their build ids are those of the program that ran.

            EXAMPLES
              launchguard inspect
              launchguard inspect /var/lib/notes
              launchguard inspect --last /var/lib/notes
              launchguard inspect --last crash /var/lib/notes
              launchguard inspect --run 12 /var/lib/notes
              launchguard inspect device.tar.gz
              launchguard inspect --debug-dir symbols/ 00000012-6b1f9f1e.lgrun
              launchguard inspect --json 00000012-6b1f9f1e.lgrun | jq -r .crash.kind
            """
    )

    @Argument(help: "A run file, a ledger, a state directory, or a tarball of one. Default: $STATE_DIRECTORY, or the current directory, or what launchguard run has made.", completion: .file())
    var target: String?

    @Option(
        name: [.customShort("n"), .customLong("lines")],
        help: ArgumentHelp(
            "The number of breadcrumbs and lines of standard error of a run (default 20), or of runs of a timeline (default all).",
            valueName: "count"))
    var lines: Int?

    @Flag(help: "Also show the memory map of the process.")
    var map = false

    @Flag(help: "With --json: the bytes of the stacks too. These bytes are many, and hold the program's data.")
    var memory = false

    @OptionGroup var runs: RunOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var symbols: SymbolOptions

    func validate() throws {
        guard !memory || output.json else { throw ValidationError("--memory needs --json.") }
        guard lines ?? 0 >= 0 else { throw ValidationError("-n needs a number that is not negative.") }
    }

    func run() throws {
        switch try runs.target(target) {
        case .directory(let directory):
            try show(try directory.ledger(), try Spool(directory), in: directory)
        case .file(let path):
            let reader = try Reader(path: path)
            switch reader.kind {
            case .ledger: try show(try reader.ledger(), nil, in: nil)
            case .run: try show(try reader.run(includingMemory: memory))
            }
        }
    }

    private func show(_ ledger: LedgerReport, _ spool: Spool?, in directory: StateDirectory?) throws {
        // Those that cannot be read hide no ledger.
        let kept = directory.flatMap { try? KeptPath.all(in: $0, ledger.contexts.map(\.name)) } ?? []
        if output.json {
            Output.writeLine(json: Delivered(report: ledger, delivery: spool, kept: kept.isEmpty ? nil : kept))
        } else {
            var writer = Output.makeWriter()
            if let directory { writeLastBadEnd(of: directory, ledger, to: &writer) }
            ledger.write(to: &writer, runLimit: lines)
            spool?.write(to: &writer)
            KeptPath.write(kept, to: &writer)
            Output.write(writer.bytes)
        }
        if ledger.isDamaged { try ExitStatus.damaged.end() }
        if ledger.appID == nil, ledger.uncounted.isEmpty { try ExitStatus.nothingFound.end() }
    }

    /// What a person came for, before the state of the ladder. An end without a trace may be
    /// nobody's fault: one that says what happened comes first.
    private func writeLastBadEnd(of directory: StateDirectory, _ ledger: LedgerReport, to writer: inout TextWriter) {
        let bad = (try? directory.lastRun(where: { $0.isBad && $0 != .unknown }, ledger)) ?? (try? directory.lastRun(where: { $0 == .unknown }, ledger))
        guard var run = bad, let identity = run.identity else { return }
        var reports = [run]
        symbols.apply(to: &reports)
        run = reports[0]
        writer.line(run.headline, run.verdict?.end.style ?? .plain)
        writer.line("  run \(identity.ordinal), started \(identity.started?.description ?? "at an unknown time"): launchguard inspect --run \(identity.ordinal) \(directory.path)", .dim)
        writer.endLine()
    }

    private func show(_ run: RunReport) throws {
        let shown = ShownRun(run, symbols, .init(ofRun: run.path))
        if output.json {
            Output.write(shown.json)
        } else {
            var writer = Output.makeWriter()
            shown.write(to: &writer, lines: lines, includesMap: map)
            Output.write(writer.bytes)
        }
        if run.isDamaged { try ExitStatus.damaged.end() }
    }
}
