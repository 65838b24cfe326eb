internal import LaunchGuardPlatform

/// The launches around a run on a page: the timeline drawn, and each context with its ladder.
struct LaunchSection {
    private let report: LedgerReport
    private let timeline: Timeline
    /// Runs that the timeline leaves out.
    private let earlier: Int, later: Int
    private let uuid: String?
    private let now: Timestamp

    init(_ report: LedgerReport, of run: RunReport, now: Timestamp) {
        self.report = report
        uuid = run.identity?.uuid
        let counted = report.timeline.count, all = counted + report.uncounted.count
        let here = report.timeline.firstIndex { [uuid] in $0.uuid == uuid } ?? report.uncounted.firstIndex { [uuid] in $0.uuid == uuid }.map { counted + $0 } ?? all
        let first = max(0, here - Self.mostBefore), end = min(all, here + 1 + Self.mostAfter)
        (earlier, later) = (first, all - end)
        var part = report
        part.timeline = Array(report.timeline.prefix(end).dropFirst(first))
        part.uncounted = Array(report.uncounted.prefix(max(0, end - counted)).dropFirst(max(0, first - counted)))
        timeline = Timeline(part)
        self.now = now
    }

    func write(to page: inout HTMLWriter) {
        page.section("launches", "Launches") {
            if timeline.runs.isEmpty {
                $0.element("p", ["class": "note"], "No run has been recorded.")
            } else {
                writeDrawing(to: &$0)
                let left = [(earlier, "earlier"), (later, "later")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
                if !left.isEmpty { $0.element("p", ["class": "note"], "Not shown: \(left.joined(separator: " and ")) runs") }
                $0.folded("Every run\(left.isEmpty ? "" : " shown") and the evidence for its end") { page in writeTable(to: &page) }
            }
            for context in report.contexts { write(context, to: &$0) }
            $0.warnings(report.problems.map { "\($0.part): \($0.code): \($0.message)" })
        }
    }

    // MARK: - Timeline

    private static let step = 26.0, height = 64.0
    /// A directory may hold 10,000 runs.
    private static let mostBefore = 150, mostAfter = 50

    /// A bar for each run, the oldest first; it is the higher, the longer the run was. Below it are
    /// the symbols of each context.
    private func writeDrawing(to page: inout HTMLWriter) {
        let runs = timeline.runs
        let lines = runs.flatMap { $0.strips.map(\.count) }.max() ?? 0
        let row = Double(lines) * 13 + 8
        let contexts = timeline.contexts
        let bottom = Self.height + 22 + row * Double(contexts.count)
        let labelWidth = contexts.isEmpty ? 12 : 110.0
        let width = max(320, labelWidth + Self.step * Double(runs.count) + 12)
        page.element("figure", ["class": "drawing"]) {
            $0.element("figcaption", [:], "Ended runs, oldest first. A bar is the higher, the longer the run was" + (isThere ? "; the frame is this run" : ""))
            $0.element("div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Timeline of runs"]) {
                let words = "\(runs.count) runs; the list below names each"
                $0.element("svg", ["viewBox": "0 0 \(width.text) \(bottom.text)", "width": width.text, "height": bottom.text, "role": "img", "aria-label": words]) {
                    for (index, context) in contexts.enumerated() {
                        let y = Self.height + 22 + row * Double(index)
                        $0.shape("line", ["class": "lane", "x1": "0", "x2": width.text, "y1": y.text, "y2": y.text])
                        let name = context.prefix(14) + (context.count > 14 ? "…" : "")
                        $0.element("text", ["x": "0", "y": (y + 15).text, "class": "label left"], String(name))
                    }
                    for (index, run) in runs.enumerated() {
                        write(run, at: labelWidth + Self.step * Double(index), row: row, bottom: bottom, isNewVersion: index > 0 && runs[index - 1].version != run.version, to: &$0)
                    }
                }
            }
            let legend = Timeline.symbols(of: runs[...])
            if !legend.isEmpty {
                $0.element("ul", ["class": "legend"]) { page in
                    for symbol in legend {
                        page.element("li") {
                            $0.element("code", ["class": symbol.style.color], String(symbol.rawValue))
                            $0.text(" " + symbol.meaning)
                        }
                    }
                }
            }
        }
    }

    private var isThere: Bool { timeline.runs.contains { $0.uuid == uuid } }

    private func write(_ run: Timeline.Run, at x: Double, row: Double, bottom: Double, isNewVersion: Bool, to page: inout HTMLWriter) {
        let bar = barHeight(run.duration)
        page.element("g") {
            $0.element("title", [:], "Run \(run.ordinal), version \(run.version ?? "unknown"): \(run.verdict?.summary ?? "damaged")")
            if run.uuid == uuid {
                $0.shape("rect", ["class": "this", "x": (x - 2).text, "y": "1", "width": (Self.step - 2).text, "height": (bottom - 3).text, "rx": "4"])
            }
            if isNewVersion { $0.shape("line", ["class": "version", "x1": (x - 4).text, "x2": (x - 4).text, "y1": "0", "y2": (Self.height + 18).text]) }
            let color = (run.verdict?.end ?? .unknown).color
            $0.shape("rect", ["class": "bar " + color, "x": (x + 3).text, "y": (Self.height - bar).text, "width": "14", "height": bar.text, "rx": "2"])
            $0.element("text", ["x": (x + 10).text, "y": (Self.height + 15).text, "class": "label"], "\(run.ordinal)")
            for (context, strip) in run.strips.enumerated() {
                for (place, symbol) in strip.enumerated() {
                    let y = Self.height + 22 + row * Double(context) + 15 + 13 * Double(place)
                    $0.element("text", ["x": (x + 10).text, "y": y.text, "class": "symbol " + symbol.style.color], String(symbol.rawValue))
                }
            }
        }
    }

    /// Logarithmic, from a millisecond to a day.
    private func barHeight(_ duration: UInt64?) -> Double {
        guard let duration, duration > 1_000_000 else { return 6 }
        return min(Self.height - 6, 6 + 6.5 * log10(Double(duration) / 1e6))
    }

    private func writeTable(to page: inout HTMLWriter) {
        page.element("div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Every run"]) {
            $0.element("table") { page in
                page.element("thead") {
                    $0.element("tr") {
                        for name in ["run", "version", "started", "lasted", "end", "because"] { $0.element("th", ["scope": "col"], name) }
                        for name in timeline.contexts { $0.element("th", ["scope": "col"], name) }
                    }
                }
                page.element("tbody") { page in
                    for run in timeline.runs { writeRow(run, to: &page) }
                }
            }
        }
    }

    private func writeRow(_ run: Timeline.Run, to page: inout HTMLWriter) {
        page.element("tr", run.uuid == uuid ? ["aria-current": "true"] : [:]) {
            $0.element("th", ["scope": "row"], "#\(run.ordinal)" + (run.uuid == uuid ? ", this run" : ""))
            $0.element("td", [:], run.version ?? "unknown")
            $0.element("td", [:], run.started?.secondsText ?? "at an unknown time")
            $0.element("td", [:], run.duration?.durationText ?? "unknown")
            $0.element("td", ["class": (run.verdict?.end ?? .unknown).color], run.verdict?.summary ?? "damaged")
            $0.element("td", [:], run.because)
            for index in timeline.contexts.indices {
                let strip = run.strips.indices.contains(index) ? run.strips[index] : []
                $0.element("td", [:], strip.map(\.meaning).joined(separator: ", "))
            }
        }
    }

    // MARK: - Contexts

    private func write(_ context: LedgerContext, to page: inout HTMLWriter) {
        page.element("h3") {
            $0.text("Context \(context.name) ")
            $0.element("span", ["class": "badge " + (context.status == "normal" ? "good" : "doubtful")], context.status)
        }
        page.facts(context.standing.map { ($0.label, $0.value) })
        if context.ladder.isEmpty {
            page.element("p", ["class": "note"], "It has no ladder of repairs.")
        } else {
            page.element("p", ["class": "note"], "Ladder: the most disruptive repair on top; \(context.ladderLegend)")
            page.element("ol", ["class": "ladder", "reversed": "", "start": "\(context.ladder.count - 1)"]) {
                if context.isOnLadder, context.rung >= context.ladder.count { $0.element("li", ["class": "next none"], "No repair is left") }
                for index in context.ladder.indices.reversed() { write(rung: index, of: context, to: &$0) }
            }
        }
        page.facts(context.history.map { ($0.label, $0.value) })
    }

    private func write(rung index: Int, of context: LedgerContext, to page: inout HTMLWriter) {
        let rung = context.ladder[index]
        let isNext = context.isNext(index)
        page.element("li", isNext ? ["class": "next"] : [:]) {
            $0.element("svg", ["viewBox": "0 0 56 34", "width": "56", "height": "34", "aria-hidden": "true"]) {
                $0.shape("line", ["class": "rung", "x1": "16", "x2": "52", "y1": "17", "y2": "17"])
                if isNext { $0.shape("path", ["class": "marker", "d": "M2 10 L13 17 L2 24 Z"]) }
            }
            $0.element("div") {
                $0.element("b", [:], "\(index) \(rung.name)")
                let words = ["impact \(rung.impact)", context.attemptsText(index), rung.kinds, isNext ? "the next rung" : ""]
                $0.element("span", [:], words.filter { !$0.isEmpty }.joined(separator: " · "))
                if let times = context.times(of: index, now: now, time: \.secondsText) { $0.element("span", [:], times) }
            }
        }
    }
}

extension TextWriter.Style {
    /// The class of the elements that look so.
    var color: String {
        switch self {
        case .red: "bad"
        case .yellow: "doubtful"
        case .green: "good"
        case .plain, .bold, .dim: "neutral"
        }
    }
}
