import ArgumentParser
import LaunchGuardReports

/// `launchguard list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the runs of an application: when and how each one ended, the place of a crash or a hang, and whether its report was sent.",
        discussion: """
            EXAMPLES
              launchguard list
              launchguard list /var/lib/notes
              launchguard list --json /var/lib/notes | jq 'select(.verdict.end == "crash") | .path'
              launchguard list --json /var/lib/notes | jq -r '.delivery[]? | select(.state == "dead") | .error'
            """
    )

    @Argument(help: "The state directory.", completion: .directory)
    var directory: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var symbols: SymbolOptions

    func run() async throws {
        let directory = try Target(self.directory).stateDirectory(for: "list")
        let ledger = try? Reader(path: directory.ledgerPath).ledger()
        var runs = await load(try directory.runPaths(), ledger)
        let deliveries = directory.deliveriesByRun()
        for index in runs.indices { runs[index].delivery = runs[index].uuid.flatMap { deliveries[$0] } }
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

    /// All runs with their symbols. Each file is some thirty system calls, so that every processor
    /// takes a part of many files.
    private func load(_ paths: [String], _ ledger: LedgerReport?) async -> [ListedRun] {
        let timeline = Dictionary((ledger?.timeline ?? []).map { ($0.uuid, $0) }) { first, _ in first }
        let size = 256
        var parts: [Int: Part] = [:]
        await withTaskGroup { group in
            for start in stride(from: 0, to: paths.count, by: size) {
                group.addTask { (start, Part(paths[start..<min(start + size, paths.count)], timeline)) }
            }
            for await (start, part) in group { parts[start] = part }
        }
        let starts = parts.keys.sorted()
        var runs = starts.flatMap { parts[$0]?.runs ?? [] }
        var reports = starts.flatMap { parts[$0]?.reports ?? [] }
        symbols.apply(to: &reports)
        var indexes = runs.indices.filter { runs[$0].hasStack }[...]
        for report in reports {
            guard let index = indexes.popFirst() else { break }
            runs[index] = ListedRun(report, counted: report.identity.flatMap { timeline[$0.uuid] })
        }
        return runs
    }

    /// Some runs, and the reports of those with a stack to look up, in the same order.
    private struct Part {
        var runs: [ListedRun] = []
        var reports: [RunReport] = []

        init(_ paths: ArraySlice<String>, _ timeline: [String: TimelineEntry]) {
            for path in paths {
                let report = Self.report(path)
                let run = ListedRun(report, counted: report.identity.flatMap { timeline[$0.uuid] })
                runs.append(run)
                if run.hasStack { reports.append(report) }
            }
        }

        /// The report of a file that cannot be read says so.
        private static func report(_ path: String) -> RunReport {
            do throws(ReportError) {
                var report = try Reader(path: path).summary()
                // The list shows no other stack of a program that lived on.
                if report.hang == nil { report.snapshots = nil }
                return report
            } catch {
                var report = RunReport(path: path)
                report.problems = [Problem(part: "file", code: error.code.name, message: error.message)]
                return report
            }
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
        let stateWidth = runs.map { $0.states.count }.max() ?? 0
        for run in runs { run.write(to: &writer, endWidth: endWidth, stateWidth: stateWidth) }
        Output.write(writer.bytes)
    }
}

/// One line of the list.
private struct ListedRun: Encodable, Sendable {
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
    /// The finer kind of a crash that follows from its symbols, and what was said before.
    var reason: String?
    var message: String?
    /// The program's own function nearest to the crash or the hang.
    var place: String?
    /// Its reports in the spool; nil: there are none.
    var delivery: [DeliveryEntry]?
    /// True: guards survived faults in it.
    var isDegraded: Bool?
    var problems: [Problem]
    /// Whether there may be symbols for it.
    let hasStack: Bool

    private enum CodingKeys: CodingKey {
        case schema, type, path, uuid, ordinal, started, durationNanoseconds, verdict, counted, reason, message, place, delivery, isDegraded,
            problems
    }

    init(_ report: RunReport, counted entry: TimelineEntry?) {
        path = report.path
        uuid = report.identity?.uuid
        ordinal = report.identity?.ordinal
        started = report.identity?.started
        durationNanoseconds = report.durationNanoseconds ?? entry?.durationNanoseconds
        verdict = entry?.verdict ?? report.verdict
        counted = entry?.counted
        reason = report.fatalCrash?.reason
        message = report.fatalCrash?.said
        place = report.place
        isDegraded = entry?.isDegraded == true || report.isDegraded ? true : nil
        problems = report.problems
        hasStack = report.crash != nil || report.otherCrashes != nil || report.snapshots != nil
    }

    var isDamaged: Bool { verdict == nil || problems.contains(where: \.isDamage) }

    /// The end in words.
    var end: String { verdict?.summary(reason: reason) ?? "damaged" }

    /// The states of its reports.
    var states: String { (delivery ?? []).map(\.state.rawValue).joined(separator: ", ") }

    /// The place and the message, and what is to be said about its reports.
    private var details: String {
        let words = message.map { $0.prefix(Self.messageLength) + ($0.count > Self.messageLength ? "…" : "") }
        let remarks = (delivery ?? []).flatMap(\.remarks).joined(separator: "; ")
        let cause = [place, words.map(String.init)].compactMap(\.self).joined(separator: ": ")
        return [cause, remarks.isEmpty ? "" : "(\(remarks))"].filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static let messageLength = 120

    func write(to writer: inout TextWriter, endWidth: Int, stateWidth: Int) {
        writer.add(ordinal.map { "#\($0)" } ?? "?", width: 6)
        guard let verdict else {
            writer.line("\(path): \(problems.first.map { "\($0.code): \($0.message)" } ?? "damaged")", .red)
            return
        }
        writer.add(started?.description ?? "at an unknown time", width: 32, .dim)
        writer.add(durationNanoseconds?.durationText ?? "", width: 12)
        writer.add(end, width: details.isEmpty && states.isEmpty ? 0 : endWidth + 2, verdict.end.style)
        if stateWidth > 0 { writer.add(states, width: details.isEmpty ? 0 : stateWidth + 2, delivery?.last?.state.style ?? .plain) }
        writer.add(details)
        if isDegraded == true { writer.add("  degraded", .yellow) }
        if isDamaged { writer.add("  damaged; see launchguard verify", .red) }
        writer.endLine()
    }
}
