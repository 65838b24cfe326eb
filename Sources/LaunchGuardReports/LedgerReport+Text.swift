extension LedgerReport {
    /// The ledger as text for a person: contexts first, then the timeline, oldest run first.
    public func write(to writer: inout TextWriter, runLimit: Int = 12) {
        writer.line([appID ?? "no ledger", appVersion].compactMap(\.self).joined(separator: " "), .bold)
        writer.line("  \(path)" + (generation.map { ", generation \($0)" } ?? ""), .dim)
        if !contexts.isEmpty { writer.heading("contexts") }
        for context in contexts { context.write(to: &writer) }
        writeTimeline(to: &writer, limit: runLimit)
        writeProblems(problems, to: &writer)
    }

    private func writeTimeline(to writer: inout TextWriter, limit: Int) {
        let uncounted = uncounted.suffix(limit)
        let counted = timeline.suffix(max(0, limit - uncounted.count))
        let hidden = timeline.count + self.uncounted.count - counted.count - uncounted.count
        guard !counted.isEmpty || !uncounted.isEmpty else {
            writer.endLine()
            writer.line("no run has been recorded")
            return
        }
        writer.heading("timeline, oldest run first" + (hidden > 0 ? " (\(hidden) older ones are not shown)" : ""))
        let width = (counted.map(\.ordinal) + uncounted.map(\.ordinal)).max() ?? 0
        for entry in counted {
            var effects: [String] = []
            if !entry.repaired.isEmpty { effects.append("repaired \(entry.repaired.joined(separator: ", "))") }
            if !entry.launching.isEmpty { effects.append("launching \(entry.launching.joined(separator: ", "))") }
            if !entry.repairing.isEmpty { effects.append("repairing \(entry.repairing.joined(separator: ", "))") }
            if !entry.counted.isEmpty { effects.append("counted for \(entry.counted.joined(separator: ", "))") }
            TimelineLine(
                ordinal: entry.ordinal, started: entry.started, duration: entry.durationNanoseconds, verdict: entry.verdict,
                remark: effects.joined(separator: ", ")
            ).write(to: &writer, ordinalWidth: String(width).count)
        }
        for run in uncounted {
            TimelineLine(
                ordinal: run.ordinal, started: run.started, duration: run.durationNanoseconds, verdict: run.verdict,
                remark: run.isSecondary ? "secondary, never counted" : "not yet counted"
            ).write(to: &writer, ordinalWidth: String(width).count)
        }
    }
}

/// One run in a timeline: two lines, what and why.
private struct TimelineLine {
    var ordinal: UInt64
    var started: Timestamp?
    var duration: UInt64?
    var verdict: Verdict?
    var remark: String

    func write(to writer: inout TextWriter, ordinalWidth: Int) {
        let end = verdict?.end ?? .unknown
        writer.add("  #\(ordinal)", width: ordinalWidth + 5)
        writer.add(started?.description ?? "at an unknown time", width: 32, .dim)
        writer.add(verdict?.summary ?? "damaged", end.style)
        if let duration { writer.add(" after \(duration.durationText)") }
        writer.endLine()
        let because = verdict.map { "because \($0.evidence)" } ?? "its verdict cannot be read"
        writer.line(String(repeating: " ", count: ordinalWidth + 5) + because + (remark.isEmpty ? "" : "; \(remark)"), .dim)
    }
}

extension End {
    /// Ends of which the program is the cause stand out.
    package var style: TextWriter.Style {
        switch self {
        case .crash, .hang, .oom: .red
        case .killed, .unknown, .exit: .yellow
        case .clean, .running: .green
        default: .plain
        }
    }
}

extension LedgerContext {
    fileprivate func write(to writer: inout TextWriter) {
        writer.add("  ")
        writer.add(name, width: 16, .bold)
        writer.add(status, width: 14, status == "normal" ? .green : .yellow)
        writer.line(
            "streak \(streak) (report after \(reportAfter), repair after \(repairAfter)), reported \(reported), "
                + "unknown \(unknown) (" + (unknownAfter == 0 ? "never repaired" : "repair after \(unknownAfter)") + ")")
        writer.line(String(repeating: " ", count: 18) + ladder)
        writer.line(
            String(repeating: " ", count: 18)
                + "\(launches.counting("launch", "launches")), \(crashes.counting("launch crash", "launch crashes")), "
                + "\(repairs.counting("repair", "repairs")) since the ledger was made",
            .dim)
    }

    /// Where the context stands on its ladder.
    private var ladder: String {
        guard rungCount > 0 else { return "no ladder" }
        // A damaged or hostile ledger may name any number of rungs.
        let rungs = rungCount <= 16 ? (0..<rungCount).map { $0 < rung ? "●" : "○" }.joined() + " " : ""
        var words = ["ladder \(rungs)" + (isExhausted ? "no repair is left" : "next is rung \(UInt64(rung) + 1) of \(rungCount)")]
        if attempts > 0 { words.append(UInt64(attempts).counting("attempt", "attempts") + " used") }
        if let lastRepair { words.append("last repair \"\(lastRepair)\"") }
        if interruptions > 0 { words.append("\(interruptions) interrupted") }
        if isOnProbation { words.append("on probation") }
        if needsRepair { words.append("the next launch is held for a repair") }
        return words.joined(separator: ", ")
    }
}
