import ArgumentParser
import LaunchGuardReports

/// `launchguard list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the runs of an application: when and how each one ended, and the place of a crash or a hang.",
        discussion: """
            EXAMPLES
              launchguard list
              launchguard list /var/lib/notes
              launchguard list --json /var/lib/notes | jq 'select(.verdict.end == "crash") | .path'
            """
    )

    @Argument(help: "The state directory.", completion: .directory)
    var directory: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var symbols: SymbolOptions

    func run() throws {
        let directory: StateDirectory
        switch try Target(self.directory) {
        case .directory(let found):
            directory = found
        case .file(let path):
            let kind = try Reader(path: path).kind
            throw ValidationError("\(path) is a \(kind == .run ? "run file" : "ledger"); list needs a state directory.")
        }
        let ledger = try? Reader(path: directory.ledgerPath).ledger()
        let runs = try load(directory, ledger)
        if output.json {
            Output.writeLines(json: runs)
        } else {
            write(runs, ledger)
        }
        if runs.isEmpty {
            Output.complain("\(directory.path): no run has been recorded here")
            throw ExitStatus.nothingFound.code
        }
        try (runs.contains(where: \.isDamaged) ? ExitStatus.damaged : .success).end()
    }

    /// All runs with their symbols. A file that cannot be read has a line of its own.
    private func load(_ directory: StateDirectory, _ ledger: LedgerReport?) throws(ReportError) -> [ListedRun] {
        var reports: [RunReport] = []
        for path in try directory.runPaths() {
            do throws(ReportError) {
                var report = try Reader(path: path).summary()
                // The list shows no other stack of a program that lived on.
                if report.hang == nil { report.snapshots = nil }
                reports.append(report)
            } catch {
                var report = RunReport(path: path)
                report.problems = [Problem(part: "file", code: error.code.name, message: error.message)]
                reports.append(report)
            }
        }
        symbols.apply(to: &reports)
        let timeline = Dictionary((ledger?.timeline ?? []).map { ($0.uuid, $0) }) { first, _ in first }
        return reports.map { report in
            ListedRun(report, counted: report.identity.flatMap { timeline[$0.uuid] })
        }
    }

    private func write(_ runs: [ListedRun], _ ledger: LedgerReport?) {
        var writer = Output.makeWriter()
        if let ledger, let appID = ledger.appID {
            writer.add([appID, ledger.appVersion].compactMap(\.self).joined(separator: " "), .bold)
            let contexts = ledger.contexts.map { context in
                let mode = context.isHalted ? ", halted" : context.mode == "normal" ? "" : ", \(context.mode)"
                return "\(context.name) \(context.status)\(mode), streak \(context.streak)"
            }
            writer.line(contexts.isEmpty ? "" : "  (\(contexts.joined(separator: "; ")))")
        }
        let endWidth = runs.map { $0.end.count }.max() ?? 0
        for run in runs { run.write(to: &writer, endWidth: endWidth) }
        Output.write(writer.bytes)
    }
}

/// One line of the list.
private struct ListedRun: Encodable {
    let schema = RunReport.currentSchema
    let type = "listed-run"
    var path: String
    var uuid: String?
    var ordinal: UInt64?
    var started: Timestamp?
    var durationNanoseconds: UInt64?
    var verdict: Verdict?
    /// Contexts to whose streak or unknown count the run added; nil: not in the timeline.
    var counted: [String]?
    /// The innermost known function of the crash or the hang.
    var topFrame: String?
    var problems: [Problem]

    init(_ report: RunReport, counted entry: TimelineEntry?) {
        path = report.path
        uuid = report.identity?.uuid
        ordinal = report.identity?.ordinal
        started = report.identity?.started
        durationNanoseconds = report.durationNanoseconds ?? entry?.durationNanoseconds
        verdict = entry?.verdict ?? report.verdict
        counted = entry?.counted
        topFrame = report.crash?.place(program: report.programPath) ?? report.hang?.place(program: report.programPath)
        problems = report.problems
    }

    var isDamaged: Bool { verdict == nil || problems.contains(where: \.isDamage) }

    /// The end in words.
    var end: String { verdict?.summary ?? "damaged" }

    func write(to writer: inout TextWriter, endWidth: Int) {
        writer.add(ordinal.map { "#\($0)" } ?? "?", width: 6)
        guard let verdict else {
            writer.line("\(path): \(problems.first.map { "\($0.code): \($0.message)" } ?? "damaged")", .red)
            return
        }
        writer.add(started?.description ?? "at an unknown time", width: 32, .dim)
        writer.add(durationNanoseconds?.durationText ?? "", width: 12)
        writer.add(end, width: topFrame == nil ? 0 : endWidth + 2, verdict.end.style)
        writer.add(topFrame ?? "")
        if isDamaged { writer.add("  damaged; see launchguard verify", .red) }
        writer.endLine()
    }
}
