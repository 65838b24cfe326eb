extension LedgerContext {
    /// The context as text: where it stands, its ladder drawn, its suspects.
    ///
    /// - Parameters:
    ///   - writer: where the text goes.
    ///   - now: what throttles are measured against.
    ///   - time: how a moment is written.
    public func write(to writer: inout TextWriter, now: Timestamp, time: (Timestamp) -> String = \.secondsText) {
        func write(_ fields: [Field]) {
            for field in fields {
                writer.add("  ")
                writer.add(field.label, width: 10, .dim)
                writer.line(field.value, field.style)
            }
        }
        writer.add("context ")
        writer.add(name, .bold)
        writer.add("  ")
        writer.line(status, status == "normal" ? .green : .yellow)
        write(standing)
        writeLadder(to: &writer, now: now, time: time)
        write(history)
    }

    /// A line of the context; without a label it goes on with the one above.
    typealias Field = (label: String, value: String, style: TextWriter.Style)

    /// Where the context stands.
    var standing: [Field] {
        var fields: [Field] = []
        func field(_ label: String, _ value: String, _ style: TextWriter.Style = .plain) { fields.append((label, value, style)) }
        field("mode", modeText, modeStyle)
        if let need { field("", "a repair is needed\(need)", .yellow) }
        if isShadow { field("", "shadow: the last launch only decided, and did nothing") }
        field("streak", "streak \(streak) (\(threshold("report", reportAfter)), \(threshold("repair", repairAfter))), reported \(reported)")
        if let ends, ends != streak { field("", UInt64(ends).counting("counted end", "counted ends") + " since the last good launch") }
        if let unsteady {
            field("", UInt64(unsteady).counting("crash", "crashes in a row") + " soon after the launch (\(threshold("repair", repairAfter)))", .yellow)
        }
        if let stops, let lastTask { field("", "terminated in the task \"\(lastTask)\": " + UInt64(stops).counting("time", "times in a row")) }
        if let quits { field("", UInt64(quits).counting("clean end", "clean ends") + " before the launch was finished; three are a good launch") }
        field("", "unknown \(unknown) (\(threshold("repair", unknownAfter)))")
        if let windowMilliseconds { field("window", "\(windowMilliseconds) ms, \(finishText)") }
        if let lastTask { field("", "the last end came in the task \"\(lastTask)\"") }
        if skips > 0 { field("", "the repair was put off " + UInt64(skips).counting("time", "times")) }
        return fields
    }

    /// Its suspects and totals.
    var history: [Field] {
        var fields: [Field] = suspects.enumerated().map { index, suspect in
            (
                index == 0 ? "suspects" : "",
                "\"\(suspect.key)\": \(UInt64(suspect.crashes).counting("crash", "crashes"))"
                    + (suspect.isLeftOut ? ", left out by the last launch" : ""), .plain
            )
        }
        fields.append((
            "totals",
            "\(launches.counting("launch", "launches")), \(crashes.counting("launch crash", "launch crashes")), "
                + "\(repairs.counting("repair", "repairs")) since the ledger was made", .dim
        ))
        return fields
    }

    /// The reason for a repair; nil: none is needed.
    private var need: String? {
        guard isOnLadder else { return nil }
        if streak >= repairAfter, repairAfter > 0 { return ": \(UInt64(streak).counting("launch crash", "launch crashes in a row"))" }
        if let unsteady, unsteady >= repairAfter, repairAfter > 0 {
            return ": \(UInt64(unsteady).counting("crash", "crashes in a row")) soon after the launch"
        }
        if unknown >= unknownAfter, unknownAfter > 0 { return ": \(UInt64(unknown).counting("unexplained death", "unexplained deaths"))" }
        return isDue ? ", whatever the streak" : nil
    }

    private var finishText: String {
        switch finish {
        case "mark": "without effect: only the mark finishes the launch"
        case "time": "which alone finishes the launch"
        case "both": "and the mark, whichever comes last"
        default: "or the mark, whichever comes first"
        }
    }

    private func threshold(_ what: String, _ count: UInt32) -> String {
        count == 0 ? "never \(what)" : "\(what) after \(count)"
    }

    // MARK: - Mode

    private var modeText: String {
        let crashed = "\(UInt64(safeCrashes).counting("crash", "crashes")) in safe mode in a row"
        switch mode {
        case _ where isHalted:
            return "halted: \(crashed); a launch waits, or makes one more try in safe mode"
        case "normal":
            return "normal"
        case "probation":
            return "probation: a repair has just been made; one launch crash climbs the ladder at once"
        case "safe":
            return "safe mode: \(goodRuns) of \(retryRuns.map(String.init) ?? "an unknown number of") good launches until the next try; "
                + crashed + (safeCrashLimit == 0 ? ", it never halts" : ", it halts at \(safeCrashLimit)")
        case "trial":
            return "trial: the normal launch is tried; when it is finished safe mode is over"
        default:
            return mode
        }
    }

    private var modeStyle: TextWriter.Style {
        isHalted ? .red : mode == "normal" ? .green : .yellow
    }

    // MARK: - Ladder

    /// Rungs from the most disruptive down to the built-in one; a marker stands at the next rung.
    private func writeLadder(to writer: inout TextWriter, now: Timestamp, time: (Timestamp) -> String) {
        guard !ladder.isEmpty else {
            writer.add("  ")
            writer.add("ladder", width: 10, .dim)
            writer.line("none")
            return
        }
        let nameWidth = ladder.map { TextWriter.escaped($0.name).count }.max() ?? 0
        let attemptsWidth = ladder.indices.map { attemptsText($0).count }.max() ?? 0
        writer.add("  ")
        writer.add("ladder", width: 10, .dim)
        writer.line("the most disruptive repair on top; \(ladderLegend)", .dim)
        if isOnLadder, rung >= ladder.count { writeRail(to: &writer, isNext: true, "╷", "no repair is left") }
        for index in ladder.indices.reversed() {
            let rung = ladder[index]
            writeRail(to: &writer, isNext: isNext(index), "╞═")
            writer.add(" \(index)", width: 4)
            writer.add(rung.name, width: nameWidth + 2, isNext(index) ? .bold : .plain)
            writer.add("impact \(rung.impact)", width: attemptsText(index).isEmpty && rung.kinds.isEmpty ? 0 : 12, .dim)
            // Names as long as they may be leave no room after them.
            let isBelow = 34 + nameWidth + attemptsWidth + rung.kinds.count > 120
            writer.add(attemptsText(index), width: rung.kinds.isEmpty || isBelow || attemptsWidth == 0 ? 0 : attemptsWidth + 2)
            writer.line(isBelow ? "" : rung.kinds)
            if isBelow {
                writeRail(to: &writer, isNext: false, "│")
                writer.line(String(repeating: " ", count: 5) + rung.kinds)
            }
            if let times = times(of: index, now: now, time: time) {
                writeRail(to: &writer, isNext: false, "│")
                writer.line(String(repeating: " ", count: 5) + times, .dim)
            }
        }
    }

    /// Meaning of the ladder's marks, or the reason why there are none.
    var ladderLegend: String {
        isOnLadder ? "▶ the next rung, ● attempts used, ○ left" : "none is tried " + (mode == "trial" ? "during a trial" : "in safe mode")
    }

    private func writeRail(to writer: inout TextWriter, isNext: Bool, _ rail: String, _ text: String? = nil) {
        writer.add("        ")
        writer.add(isNext ? "▶" : " ", width: 4, .yellow)
        writer.add(rail)
        if let text { writer.line("  " + text) }
    }

    /// Whether a crash leads to the next rung: not in safe mode, where no repair is left, nor from
    /// a trial, which leads back there.
    var isOnLadder: Bool { mode != "safe" && mode != "trial" }

    func isNext(_ index: Int) -> Bool { isOnLadder && index == Int(rung) }

    /// Attempts on the next rung; those of the others are not in the ledger.
    func attemptsText(_ index: Int) -> String {
        guard isOnLadder else { return "" }
        let allowed = ladder[index].attempts
        let used = index == Int(rung) ? attempts : 0
        if index < Int(rung) { return "passed" }
        guard allowed <= 10, used <= allowed else { return "\(used)/\(allowed)" }
        return String(repeating: "●", count: Int(used)) + String(repeating: "○", count: Int(allowed - used))
    }

    func times(of index: Int, now: Timestamp, time: (Timestamp) -> String) -> String? {
        guard let last = ladder[index].lastSeries else { return nil }
        var words = ["last series \(time(last))"]
        // A series that is under way goes on.
        let isUnderWay = isNext(index) && attempts > 0
        if !isUnderWay, let end = ladder[index].throttledUntil, now < end { words.append("throttled until \(time(end))") }
        if isNext(index), interruptions > 0 { words.append("\(interruptions) of its attempts interrupted") }
        return words.joined(separator: ", ")
    }
}

extension LedgerRung {
    /// Kinds of the repair.
    var kinds: String {
        var words: [String] = []
        if isBuiltIn { words.append("built in") }
        if isDestructive { words.append("destructive") }
        if needsConsent { words.append("by consent") }
        if needsRestart { words.append("needs a restart") }
        if let fate { words.append(fate == "did-not-help" ? "done, and did not help" : fate) } else if lastSeries == nil { words.append("never tried") }
        return words.joined(separator: ", ")
    }
}
