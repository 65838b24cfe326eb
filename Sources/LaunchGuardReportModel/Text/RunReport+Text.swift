extension RunReport {
    /// The report as text for a person: the cause first, then its evidence, then everything else.
    ///
    /// - Parameters:
    ///   - writer: gets the text.
    ///   - breadcrumbLimit: how many breadcrumbs, and lines of standard error.
    ///   - includesMap: whether the memory map is written too.
    ///   - deliveries: the reports in the spool of this run; see ``StateDirectory/deliveries()``.
    public func write(to writer: inout TextWriter, breadcrumbLimit: Int = 20, includesMap: Bool = false, deliveries: [DeliveryEntry] = []) {
        writer.line(headline, verdict?.end == .crash ? .red : .bold)
        if let crash, !crash.isRequestedDump {
            writer.add("  ")
            writer.add("signal:", width: 11, .dim)
            writer.line(crash.signalWords)
        }
        crash?.writeMessages(to: &writer)
        lastWords?.write(to: &writer)
        if let verdict { writer.line("  evidence: \(verdict.evidence)") }
        writeIdentity(to: &writer, deliveries)
        writeAnnotations(to: &writer)
        if let crash {
            crash.writeThread(to: &writer)
            writeOtherCrashes(to: &writer)
            let recorded = recordedCrash
            recorded?.writeOtherThreads(to: &writer, at: recorded == crash ? nil : recorded?.threadID)
            crash.writeDetails(to: &writer)
            recorded?.writeResources(to: &writer)
            recorded?.writeMemory(to: &writer, includesMap: includesMap)
        }
        for snapshot in snapshots ?? [] { snapshot.write(to: &writer) }
        guards?.write(to: &writer, from: identity?.monotonicNanoseconds ?? 0)
        writePulse(to: &writer)
        if let standardError { standardError.write(to: &writer, limit: breadcrumbLimit) }
        writeBreadcrumbs(to: &writer, limit: breadcrumbLimit)
        writeModules(to: &writer)
        writeProblems(problems, to: &writer)
    }

    private func writeIdentity(to writer: inout TextWriter, _ deliveries: [DeliveryEntry]) {
        writer.endLine()
        for (name, value) in facts(deliveries) {
            writer.add(name, width: 13, .dim)
            writer.line(value)
        }
    }

    /// Facts about the process, its system and its launches; a fact without a name continues the
    /// one above.
    func facts(_ deliveries: [DeliveryEntry]) -> [(name: String, value: String)] {
        var facts: [(name: String, value: String)] = []
        func field(_ name: String, _ value: String) { facts.append((name, value)) }
        if let identity {
            field("run", "\(identity.ordinal), \(identity.uuid)" + (identity.isSecondary ? ", secondary" : ""))
            if let fingerprint { field("fingerprint", fingerprint) }
            field("program", [identity.appID, identity.appVersion].compactMap(\.self).joined(separator: " "))
            field("file", (identity.executable ?? "unknown") + (identity.buildID.map { ", build id \($0)" } ?? ""))
            field("process", "\(identity.processID) of user \(identity.userID)")
            field("started", (identity.started?.description ?? "at an unknown time") + lifeText)
            if !identity.isStartComplete { field("", "it ended before lg_start() was complete") }
            if identity.healedPages > 0 { field("", "\(identity.healedPages) pages were lost when its file was cut") }
            if let signal = identity.termination {
                let lived = signal.livedNanoseconds.map { ", and was alive \($0.durationText) later" } ?? ""
                field("noted", signal.signal.name + (signal.senderProcessID.map { " from process \($0)" } ?? "") + lived)
            }
            for (name, value) in identity.words { field(name, value) }
        }
        if let guards, isDegraded { field("degraded", "guards survived \(guards.survived.counting("fault", "faults"))") }
        for (name, value) in system?.words ?? [] { field(name, value) }
        if let time = crash?.time { field("crashed", time.description) }
        for context in contexts ?? [] {
            field("context", context.summary(from: identity?.monotonicNanoseconds ?? 0))
            if let modules = context.modules { field("", "\(context.name): its own modules are \(modules.joined(separator: ", "))") }
        }
        for entry in deliveries { field("delivery", entry.summary + (entry.uuid == identity?.uuid ? "" : "; report \(entry.uuid), which the run asked for")) }
        return facts
    }

    private func writeAnnotations(to writer: inout TextWriter) {
        guard let annotations, !annotations.isEmpty else { return }
        writer.heading("annotations")
        let width = min(annotations.map { TextWriter.escaped($0.key).count }.max() ?? 0, 24) + 2
        for annotation in annotations {
            writer.add("  ")
            writer.add(annotation.key + " ", width: width, .dim)
            writer.add(annotation.isRedacted ? "(redacted)" : annotation.value ?? "", annotation.isRedacted ? .dim : .plain)
            if annotation.isCut { writer.add(" …", .dim) }
            writer.endLine()
        }
    }

    private func writeBreadcrumbs(to writer: inout TextWriter, limit: Int) {
        guard let breadcrumbs, !breadcrumbs.entries.isEmpty else { return }
        let shown = breadcrumbs.entries.suffix(limit)
        let isAll = shown.count == breadcrumbs.entries.count
        writer.heading("breadcrumbs" + (isAll ? "" : ", the last \(shown.count) of \(breadcrumbs.entries.count)"))
        for entry in shown {
            writer.add("  ")
            entry.write(to: &writer)
        }
        if let overwritten = breadcrumbs.overwritten { writer.line("  \(overwritten)", .dim) }
        for loss in breadcrumbs.losses { writer.line("  \(loss)", .yellow) }
    }

    /// What the list of modules lacks; nil: nothing.
    var modulesOmittedText: String? {
        modulesOmitted.map { "\($0.counting("more module", "more modules")) had no room in the file" }
    }

    private func writeModules(to writer: inout TextWriter) {
        guard let modules else { return }
        writer.heading("modules")
        for module in modules {
            writer.line("  \(module.start)–\(module.end)  \(module.path)  \(module.buildID ?? "no build id")")
        }
        if let modulesOmittedText { writer.line("  \(modulesOmittedText)", .yellow) }
    }
}

extension RunIdentity {
    /// The marks of the end: of the program, its launch, the kernel and other processes.
    fileprivate var words: [(name: String, value: String)] {
        var words: [(String, String)] = []
        func since(_ time: UInt64) -> String { "after \((time >= monotonicNanoseconds ? time - monotonicNanoseconds : 0).durationText)" }
        if let announcement {
            let what = announcement.kind == .restart ? "be started again" : "end"
            words.append(("announced", "that it would \(what), \(since(announcement.monotonicNanoseconds))"))
        }
        if let witness {
            let what =
                witness.signal.map { "it was ended by \($0.name)" } ?? witness.exitCode.map { "it ended with exit status \($0)" }
                ?? "its wait status was \(witness.waitStatus)"
            words.append(("witness", "another process waited for it: \(what)"))
        }
        if let crashNote {
            words.append(("noted", "that it had crashed\(crashNote.type.map { " (\($0))" } ?? ""), \(since(crashNote.monotonicNanoseconds))"))
        }
        if let hangSinceNanoseconds { words.append(("hang", "it was hanging from \(since(hangSinceNanoseconds).dropFirst(6)) after the start on")) }
        if let memoryKills, memoryKills.count > 0 {
            words.append(("memory", "the kernel had ended \(memoryKills.count.counting("process", "processes")) of its cgroup before it started"))
        }
        if let cpuLimit {
            words.append(("CPU", "\(cpuLimit.usedNanoseconds.durationText) of \(cpuLimit.limitSeconds) s were used \(since(cpuLimit.monotonicNanoseconds))"))
        }
        if let memoryPressure {
            words.append(("memory", "\(memoryPressure.figures) were in use \(since(memoryPressure.monotonicNanoseconds)), near the limit"))
        }
        return words
    }
}

extension RunIdentity.MemoryPressure {
    /// For example "46.1 MiB of 48.0 MiB".
    var figures: String {
        "\(Resource(value: usedBytes, unit: "bytes").text) of \(Resource(value: limitBytes, unit: "bytes").text)"
    }
}

extension RunContext {
    /// The context in a few words; times count from the start of the run.
    fileprivate func summary(from start: UInt64) -> String {
        func since(_ time: UInt64?) -> String { time.map { " after \(($0 >= start ? $0 - start : 0).durationText)" } ?? "" }
        switch phase {
        case .notBegun: return "\(name): not begun"
        case .deciding: return "\(name): begun\(since(begunNanoseconds)), deciding"
        case .repairing: return "\(name): repairing, rung \(rung ?? 0), attempt \(attempt ?? 1)"
        case .held: return "\(name): held for a repair, begun\(since(begunNanoseconds))"
        case .halted: return "\(name): halted, begun\(since(begunNanoseconds))"
        case .terminating: return "\(name): over, because the end was announced" + (finishedNanoseconds.map { ", finished\(since($0))" } ?? "")
        case .launching:
            let thread = taskThreadID.map { " of thread \($0)" } ?? ""
            let current = task.map { ", in the task \"\($0)\"\(thread)" } ?? ""
            return "\(name): launching\(since(launchingNanoseconds)), not finished\(current), window \(windowMilliseconds) ms"
        case .finished: return "\(name): finished\(since(finishedNanoseconds))"
        case .invalid: return "\(name): the phase is invalid"
        }
    }
}

extension Breadcrumb {
    /// The entry as one line.
    public func write(to writer: inout TextWriter) {
        writer.styled(.dim) {
            $0.add(time?.description ?? "\(monotonicNanoseconds) ns")
            $0.add("  ")
        }
        writer.add(level.description, width: 10, level >= .error ? .red : level >= .warning ? .yellow : .plain)
        writer.styled(.dim) {
            $0.add("[")
            $0.add(String(threadID))
            $0.add("] ")
        }
        if let category {
            writer.styled(.bold) {
                $0.add(category)
                $0.add(": ")
            }
        }
        writer.add(text)
        if isDamaged == true { writer.add("damaged", .red) }
        for (index, field) in (fields ?? []).enumerated() {
            field.write(to: &writer, isFirst: index == 0, isAlone: category == nil && text.isEmpty)
        }
        if isCut { writer.add(" …", .dim) }
        writer.endLine()
    }
}

extension Breadcrumb.Field {
    /// Key and value after a text; `isAlone`: there is no text.
    func write(to writer: inout TextWriter, isFirst: Bool, isAlone: Bool = false) {
        writer.styled(.dim) {
            $0.add(!isFirst ? " " : isAlone ? "" : "  ")
            $0.add(TextWriter.word(key))
            $0.add("=")
        }
        if let value { writer.add(TextWriter.word(value)) } else { writer.add("(redacted)", .yellow) }
    }
}

extension TextWriter {
    /// A text as one word, in quotation marks where it would not be one.
    static func word(_ text: String) -> String {
        let hasMarks = text.utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "=") }
        let isWord = !text.isEmpty && !hasMarks && (text.isPlain || !text.unicodeScalars.contains { $0.properties.isWhitespace })
        if isWord { return text }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// The parts that are missing, and why.
func writeProblems(_ problems: [Problem], to writer: inout TextWriter) {
    guard !problems.isEmpty else { return }
    writer.heading("not shown")
    for problem in problems {
        writer.line("  \(problem.part): \(problem.code): \(problem.message)", problem.isDamage ? .red : .yellow)
    }
}
