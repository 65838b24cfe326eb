/// Draws the ended runs of a ledger: a line for each with a strip of symbols for each context, and
/// below it why its end is known.
struct Timeline {
    let contexts: [String]
    let runs: [Run]

    /// One run, whether the ledger has it or only its file.
    struct Run {
        var ordinal: UInt64
        var version: String?
        var started: Timestamp?
        var duration: UInt64?
        var verdict: Verdict?
        var remark: String
        var uuid: String
        /// By context; empty for a run that the ledger does not have.
        var strips: [[Symbol]]

        /// Why its end is known, and what else there is to say.
        var because: String {
            (verdict.map { "because \($0.evidence)" } ?? "its verdict cannot be read") + (remark.isEmpty ? "" : "; \(remark)")
        }
    }

    /// Widest line, if the strips are to stand in columns.
    private static let widthMax = 120

    init(_ report: LedgerReport) {
        contexts = report.contexts.map(\.name)
        let counted = report.timeline.map { entry in
            Run(
                ordinal: entry.ordinal, version: entry.appVersion, started: entry.started, duration: entry.durationNanoseconds,
                verdict: entry.verdict,
                remark: entry.remark, uuid: entry.uuid,
                strips: report.contexts.map { entry.strip(of: $0.name) })
        }
        let uncounted = report.uncounted.map { run in
            Run(
                ordinal: run.ordinal, version: run.appVersion, started: run.started, duration: run.durationNanoseconds, verdict: run.verdict,
                remark: (run.isSecondary ? "secondary, never counted" : "not yet counted")
                    + (run.isDegraded == true ? "; degraded: guards survived faults" : ""),
                uuid: run.uuid,
                strips: [])
        }
        runs = counted + uncounted
    }

    func write(to writer: inout TextWriter, limit: Int?) {
        let shown = runs.suffix(limit ?? runs.count)
        guard !shown.isEmpty else {
            writer.endLine()
            writer.line(runs.isEmpty ? "no run has been recorded" : "timeline: \(runs.count) runs are not shown")
            return
        }
        let hidden = runs.count - shown.count
        writer.heading("timeline, oldest run first" + (hidden > 0 ? " (\(hidden) older ones are not shown)" : ""))
        let columns = Columns(contexts, shown)
        columns.writeHead(to: &writer)
        var version: String?
        for (index, run) in shown.enumerated() {
            if index == 0 || run.version != version { writer.line("  ── version \(run.version ?? "unknown") ──", .dim) }
            version = run.version
            columns.write(run, to: &writer)
        }
        writeLegend(of: shown, to: &writer)
    }

    /// The symbols that were used.
    static func symbols(of shown: ArraySlice<Run>) -> [Symbol] {
        let used = Set(shown.flatMap { $0.strips.joined() })
        return Symbol.allCases.filter(used.contains)
    }

    private func writeLegend(of shown: ArraySlice<Run>, to writer: inout TextWriter) {
        let legend = Self.symbols(of: shown)
        guard !legend.isEmpty else { return }
        writer.endLine()
        let width = (legend.map { $0.meaning.count }.max() ?? 0) + 2
        let perLine = max(1, 116 / (width + 2))
        for start in stride(from: 0, to: legend.count, by: perLine) {
            writer.add("  ")
            let line = legend[start..<min(start + perLine, legend.count)]
            for (index, symbol) in line.enumerated() {
                let isLast = index == line.count - 1
                writer.add("\(symbol.rawValue) ")
                writer.add(symbol.meaning, width: isLast ? 0 : width, .dim)
            }
            writer.endLine()
        }
    }

    // MARK: - Columns

    /// Where things stand in a line.
    private struct Columns {
        var contexts: [String]
        var ordinal: Int
        var duration: Int
        var end: Int
        /// Column of each context's strip; nil: there is no room, and the strips stand below the
        /// run.
        var strips: [Int]?
        static let start = 22

        init(_ contexts: [String], _ runs: ArraySlice<Run>) {
            self.contexts = contexts
            ordinal = max(5, (runs.map { "#\($0.ordinal)".count }.max() ?? 0) + 2)
            duration = (runs.map { Self.text($0.duration).count }.max() ?? 0) + 2
            end = max(3, runs.map { Self.text($0.verdict).count }.max() ?? 0) + 2
            let widths = contexts.enumerated().map { index, name in
                max(TextWriter.escaped(name).count, runs.map { $0.strips.isEmpty ? 0 : $0.strips[index].count }.max() ?? 0) + 2
            }
            duration = max(duration, 9)
            if 2 + ordinal + Self.start + duration + end + widths.reduce(0, +) <= Timeline.widthMax { strips = widths }
        }

        static func text(_ duration: UInt64?) -> String { duration?.durationText ?? "unknown" }
        static func text(_ verdict: Verdict?) -> String { verdict?.summary ?? "damaged" }

        func writeHead(to writer: inout TextWriter) {
            writer.add("  ")
            writer.add("run", width: ordinal, .dim)
            writer.add("started", width: Self.start, .dim)
            writer.add("lasted", width: duration, .dim)
            let names = strips == nil ? [] : contexts
            writer.add("end", width: names.isEmpty ? 0 : end, .dim)
            for (index, name) in names.enumerated() {
                writer.add(name, width: index == names.count - 1 ? 0 : strips?[index] ?? 0, .dim)
            }
            writer.endLine()
        }

        func write(_ run: Run, to writer: inout TextWriter) {
            writer.add("  ")
            writer.add("#\(run.ordinal)", width: ordinal)
            writer.add(run.started?.secondsText ?? "at an unknown time", width: Self.start, .dim)
            writer.add(Self.text(run.duration), width: duration)
            let inLine = strips == nil ? [] : run.strips
            writer.add(Self.text(run.verdict), width: inLine.isEmpty ? 0 : end, (run.verdict?.end ?? .unknown).style)
            for (index, strip) in inLine.enumerated() {
                write(strip, width: index == inLine.count - 1 ? 0 : strips?[index] ?? 0, to: &writer)
            }
            writer.endLine()
            let indent = String(repeating: " ", count: ordinal + 2)
            writer.line(indent + run.because, .dim)
            guard strips == nil else { return }
            for (name, strip) in zip(contexts, run.strips) where strip != [.nothing] {
                writer.add(indent)
                write(strip, width: 10, to: &writer)
                writer.line(" " + name)
            }
        }

        private func write(_ strip: [Symbol], width: Int, to writer: inout TextWriter) {
            for symbol in strip { writer.add(String(symbol.rawValue), symbol.style) }
            writer.add("", width: max(0, width - strip.count))
        }
    }

    // MARK: - Symbols

    /// One thing that happened in the launch of a context, in the order in which they happen.
    enum Symbol: Character, CaseIterable {
        case safe = "S"
        case trial = "T"
        case reported = "r"
        case protected = "p"
        case held = "‖"
        case halted = "H"
        case leftOut = "−"
        case omitted = "c"
        case decided = "d"
        case hint = "h"
        case throttled = "t"
        case refused = "n"
        case skipped = "»"
        case repairFailed = "x"
        case repaired = "+"
        case expired = "e"
        case restart = "↻"
        case other = "?"
        case repairing = "m"
        case counted = "✗"
        case late = "l"
        case unfinished = "○"
        case finished = "✓"
        case nothing = "·"
        case upgraded = "↑"

        init(_ event: LaunchEvent) {
            self =
                switch event {
                case .safe: .safe
                case .trial: .trial
                case .reported: .reported
                case .protected: .protected
                case .held: .held
                case .halted: .halted
                case .leftOut: .leftOut
                case .omitted: .omitted
                case .decided: .decided
                case .hintLeaveOut, .hintRepair, .hintSafeMode, .hintHoldBelow: .hint
                case .throttled: .throttled
                case .refused: .refused
                case .skipped: .skipped
                case .repairFailed: .repairFailed
                case .repaired: .repaired
                case .expired: .expired
                case .restart: .restart
                case .upgraded: .upgraded
                default: .other
                }
        }

        var meaning: String {
            switch self {
            case .safe: "in safe mode"
            case .trial: "a trial"
            case .reported: "reported"
            case .protected: "the program asked for protection"
            case .held: "held"
            case .halted: "halted"
            case .leftOut: "a suspect task was left out"
            case .omitted: "a task was left out by configuration"
            case .decided: "the program decided"
            case .hint: "by a hint of the vendor"
            case .throttled: "a repair was throttled"
            case .refused: "a repair was refused"
            case .skipped: "the repair was put off"
            case .repairFailed: "a repair failed"
            case .repaired: "repaired"
            case .expired: "the hold expired"
            case .restart: "a repair asked for a restart"
            case .other: "an event of a later version"
            case .repairing: "ended during a repair"
            case .counted: "its end counted"
            case .late: "ended badly in no launch"
            case .unfinished: "not finished, did not count"
            case .finished: "finished"
            case .nothing: "finished, announced or not begun"
            case .upgraded: "an upgrade followed"
            }
        }

        var style: TextWriter.Style {
            switch self {
            case .counted, .halted, .repairFailed: .red
            case .held, .safe, .trial, .expired, .repairing, .leftOut: .yellow
            case .repaired, .finished: .green
            default: .plain
            }
        }
    }
}

extension LaunchEvent {
    fileprivate var asHint: String? {
        switch self {
        case .hintLeaveOut: "a task was left out"
        case .hintRepair: "held for a repair"
        case .hintSafeMode: "safe mode"
        case .hintHoldBelow: "held until another version"
        default: nil
        }
    }
}

extension TimelineEntry {
    fileprivate var remark: String {
        var words: [String] = []
        if !attributed.isEmpty { words.append("in a module or a task of \(attributed.joined(separator: ", "))") }
        if let repairFailure { words.append("a repair failed: \(TextWriter.escaped(repairFailure))") }
        if events.contains(where: { $0.events.contains(.upgraded) }) { words.append("an upgrade followed, and reset all counters") }
        let hints = events.flatMap(\.events).compactMap(\.asHint)
        if !hints.isEmpty { words.append("a hint of the vendor: \(hints.joined(separator: ", "))") }
        if isDegraded == true { words.append("degraded: guards survived faults") }
        return words.joined(separator: "; ")
    }

    /// Events of a context's launch, its end last.
    func strip(of context: String) -> [Timeline.Symbol] {
        var symbols = events.filter { $0.context == context }.flatMap { $0.events.map(Timeline.Symbol.init) }
        if counted.contains(context) {
            symbols.append(.counted)
        } else if late?.contains(context) == true {
            symbols.append(.late)
        } else if finished?.contains(context) == true {
            symbols.append(.finished)
        } else if launching.contains(context) {
            symbols.append(.unfinished)
        } else if !repairing.contains(context) {
            symbols.append(.nothing)
        }
        if repairing.contains(context) { symbols.append(.repairing) }
        let order = Timeline.Symbol.allCases
        return Set(symbols).sorted { (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0) }
    }
}
