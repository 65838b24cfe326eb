import ArgumentParser
import LaunchGuardReportModel

/// `launchguard list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the runs of an application: when and how each one ended, the place of a crash or a hang, and whether its report was sent.",
        discussion: """
            Newest first. Where a folder or a tarball has several state directories, each has its runs below its path. Times are \
            local (set TZ for others); JSON has them in UTC, with nanoseconds. In a terminal, lines end at its last column.

            EXAMPLES
              launchguard list
              launchguard list -n 10 /var/lib/notes
              launchguard list --end crash --end hang --since 3d /var/lib/notes
              launchguard list ~/.local/state
              launchguard list device.tar.gz
              launchguard list --json /var/lib/notes | jq 'select(.verdict.end == "crash") | .path'
              launchguard list --json /var/lib/notes | jq -r '.delivery[]? | select(.state == "dead") | .error'
            """
    )

    @Argument(help: "A state directory, a folder of some, or a tarball. Default: $STATE_DIRECTORY, or the current directory, or what launchguard run has made.", completion: .file())
    var directory: String?

    @Option(name: [.customShort("n"), .customLong("lines")], help: ArgumentHelp("Only the newest runs, of each directory.", valueName: "count"))
    var lines: Int?

    @Option(name: .customLong("end"), help: ArgumentHelp("Only runs with this end. May be repeated.", valueName: "end"), transform: parseEnd)
    var ends: [RunEnd] = []

    @Option(
        help: ArgumentHelp(
            "Only runs that started since then: 90m, 2h, 3d or 1w ago, a day (2026-11-01), or a time (2026-11-01T14:00, local unless it says otherwise).",
            valueName: "time"),
        transform: parseSince)
    var since: Timestamp?

    @Flag(name: [.customShort("r"), .long], help: "Oldest first.")
    var reverse = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var symbols: SymbolOptions

    func validate() throws {
        guard lines ?? 0 >= 0 else { throw ValidationError("-n needs a number that is not negative.") }
    }

    func run() async throws {
        let directories = try Target.all(directory).map { try $0.stateDirectory(for: "list") }
        var isDamaged = false
        var isEmpty = true
        var isFirst = true
        for directory in directories {
            let ledger = try? Reader(path: directory.ledgerPath).ledger()
            var runs = await load(try directory.runPaths().reversed(), ledger, directory.runDeliveries())
            if reverse { runs.reverse() }
            if output.json {
                Output.writeLines(json: runs)
            } else if !runs.isEmpty || directories.count == 1 {
                write(runs, ledger, directory.program, title: directories.count == 1 ? nil : (isFirst ? "" : "\n") + TextWriter.escaped(directory.path) + ":\n")
                isFirst = false
            }
            isDamaged = isDamaged || runs.contains(where: \.isDamaged)
            isEmpty = isEmpty && runs.isEmpty
        }
        if isEmpty {
            let isFiltered = !ends.isEmpty || since != nil || lines == 0
            for directory in directories {
                Output.complain(isFiltered ? "\(directory.path): no such run" : "\(directory.path): no run has been recorded here")
            }
            throw ExitStatus.nothingFound.code
        }
        try (isDamaged ? ExitStatus.damaged : .success).end()
    }

    /// The runs that are wanted, with their symbols, in the order of the paths. Each file is some
    /// thirty system calls, so that every processor takes a part of many files.
    private func load(_ paths: [String], _ ledger: LedgerReport?, _ deliveries: RunDeliveries?) async -> [ListedRun] {
        let (ends, since, isJSON) = (Set(ends), since, output.json)
        let isFiltered = !ends.isEmpty || since != nil
        // Without a filter no other file is opened.
        let paths = isFiltered ? paths[...] : paths.prefix(lines ?? .max)
        let timeline = Dictionary((ledger?.timeline ?? []).map { ($0.uuid, $0) }) { first, _ in first }
        let size = 256
        var parts: [Int: Part] = [:]
        await withTaskGroup { group in
            for start in stride(from: 0, to: paths.count, by: size) {
                group.addTask { (start, Part(paths[start..<min(start + size, paths.count)], timeline, deliveries, withFingerprint: isJSON) { $0.matches(ends, since: since) }) }
            }
            for await (start, part) in group { parts[start] = part }
        }
        let starts = parts.keys.sorted()
        var runs = Array(starts.flatMap { parts[$0]?.runs ?? [] }.prefix(lines ?? .max))
        var reports = Array(starts.flatMap { parts[$0]?.reports ?? [] }.prefix(runs.count(where: \.hasStack)))
        symbols.apply(to: &reports)
        var indexes = runs.indices.filter { runs[$0].hasStack }[...]
        for report in reports {
            guard let index = indexes.popFirst() else { break }
            let delivery = runs[index].delivery
            runs[index] = ListedRun(report, counted: report.identity.flatMap { timeline[$0.uuid] })
            runs[index].delivery = delivery
        }
        return runs
    }

    /// Some runs, and the reports of those with a stack to look up, in the same order.
    private struct Part {
        var runs: [ListedRun] = []
        var reports: [RunReport] = []

        init(_ paths: ArraySlice<String>, _ timeline: [String: TimelineEntry], _ deliveries: RunDeliveries?, withFingerprint: Bool, _ isWanted: (ListedRun) -> Bool) {
            for path in paths {
                let report = ListedRun.report(path, timeline, withFingerprint: withFingerprint)
                var run = ListedRun(report, counted: report.identity.flatMap { timeline[$0.uuid] })
                guard isWanted(run) else { continue }
                if let deliveries { run.take(deliveries) }
                runs.append(run)
                if run.hasStack { reports.append(report) }
            }
        }
    }

    /// A heading is as wide as it is: a path that is cut is of no use.
    private func write(_ runs: [ListedRun], _ ledger: LedgerReport?, _ program: String?, title: String?) {
        Output.write(title ?? "")
        var writer = Output.makeWriter(isCut: true)
        if let ledger, let appID = ledger.appID {
            writer.add([appID, ledger.appVersion].compactMap(\.self).joined(separator: " "), .bold)
            let contexts = ledger.contexts.map { context in
                let mode = context.isHalted ? ", halted" : context.mode == "normal" ? "" : ", \(context.mode)"
                return "\(context.name) \(context.status)\(mode), streak \(context.streak)"
            }
            writer.line((contexts.isEmpty ? "" : "  (\(contexts.joined(separator: "; ")))") + (program.map { "  \($0)" } ?? ""))
        }
        if let hint = ledger?.hint?.text() { writer.line(hint, .yellow) }
        let endWidth = runs.map { $0.end.count }.max() ?? 0
        let stateWidth = runs.map { $0.states.count }.max() ?? 0
        for run in runs { run.write(to: &writer, endWidth: endWidth, stateWidth: stateWidth) }
        Output.write(writer.bytes)
    }
}

private func parseEnd(_ text: String) throws -> RunEnd {
    let ends = RunEnd.allCases.filter { $0 != .noRun }
    guard let end = ends.first(where: { $0.rawValue == text }) else {
        throw ValidationError("That is no end of a run.\(Suggestion.text(for: text, among: ends.map(\.rawValue))) The ends are: \(ends.map(\.rawValue).joined(separator: ", ")).")
    }
    return end
}

private func parseSince(_ text: String) throws -> Timestamp {
    guard let time = Timestamp(since: text) else {
        throw ValidationError("That is no time; a time is, for example, 90m, 2h, 3d, 1w, 2026-11-01, 2026-11-01T14:00 or 2026-11-01T14:00:00Z.")
    }
    return time
}
