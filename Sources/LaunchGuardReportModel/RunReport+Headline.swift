extension RunReport {
    /// The cause in one sentence.
    public var headline: String {
        guard let verdict else { return "damaged: how this run ended cannot be read" }
        var text =
            switch verdict.end {
            case .noRun: "none: there was no run before"
            case .clean: cleanSentence(verdict)
            case .terminated: terminatedSentence(verdict)
            case .crash: crashSentence(verdict)
            case .hang: hangSentence
            case .oom: "out of memory: the kernel ended it for lack of memory" + memoryWords("of memory were in use")
            case .killed: killedSentence(verdict)
            case .exit: exitSentence(verdict)
            case .reboot: "reboot: the machine was started again while it ran" + (isSlowToStop ? ", after it had been \(askedWords)" : "")
            case .upgrade: "upgrade: another version of the program was started after it"
            case .debugger: "debugger: it ended under a debugger" + (crash.map { ": \($0.sentence(OwnCode(self)))" } ?? "")
            case .unknown: unknownSentence(verdict)
            case .running: "running" + (identity.map { ": process \($0.processID)" } ?? "")
            }
        if let crash, crash.isHandled {
            text += "; \(isNamed(crash) ? "the cause" : "it survived before"): \(crash.sentence(OwnCode(self)))"
        }
        return text
    }

    /// Whether the words before a bad exit name the instruction of a crash that a handler returned
    /// from: Go's runtime goes on at code that prints both, and ends.
    private func isNamed(_ crash: Crash) -> Bool {
        guard verdict?.end == .exit, let standardError else { return false }
        return standardError.text.split { " []\n".contains($0) }.contains { $0 == "pc=\(crash.programCounter.short)" }
    }

    /// The headline without the program, for lines that have it already, as those of a list; nil:
    /// the run did not end by a recorded crash.
    public var cause: String? {
        guard verdict?.end == .crash, let crash = fatalCrash else { return nil }
        return crash.sentence(OwnCode(self), lastWords: lastWords)
    }

    // MARK: - By its own will

    private func cleanSentence(_ verdict: Verdict) -> String {
        switch verdict.evidenceKind {
        case .stopMark: "clean: it called lg_stop()"
        case .restartAnnounced: "clean: it announced that it would be started again"
        case .exec: "clean: it executed a program over itself"
        case .exitMark, .witness, nil, .noRun, .processAlive, .crashRecord, .terminateMark, .bootDiffers, .noMark, .fileUnreadable,
            .handled, .crashMark, .dumpRecord, .tracer, .terminationAnnounced, .hangMark, .oomCounter, .stopTimeout, .cpuLimit, .deadline,
            .nearMemoryLimit, .kernelLog, .memoryShare, .fork, .crashNote:
            "clean" + (verdict.exitCode.map { ": exit status \($0)" } ?? "")
        }
    }

    private func exitSentence(_ verdict: Verdict) -> String {
        switch verdict.evidenceKind {
        case .exec: "exit: it executed a program over itself and started again"
        case .witness:
            "exit: exit status \(verdict.exitCode ?? 0)"
                + (verdict.exitCode == 127 && lastWords == nil ? ", with which the loader ends a program that lacks a function" : "") + saidWords
        case .exitMark, nil, .noRun, .processAlive, .crashRecord, .stopMark, .terminateMark, .bootDiffers, .noMark, .fileUnreadable,
            .handled, .crashMark, .dumpRecord, .tracer, .terminationAnnounced, .restartAnnounced, .hangMark, .oomCounter, .stopTimeout, .cpuLimit,
            .deadline, .nearMemoryLimit, .kernelLog, .memoryShare, .fork, .crashNote:
            "exit" + (verdict.exitCode.map { ": exit status \($0)" } ?? "") + saidWords
        }
    }

    private var saidWords: String { lastWords.map { ": \($0.text.inOneLine)" } ?? "" }

    // MARK: - By a signal that asks to end

    private func terminatedSentence(_ verdict: Verdict) -> String {
        switch verdict.evidenceKind {
        case .stopTimeout: "stopped too slowly: \(askedWords), then \(wasSeenKilled ? "killed" : "gone without a mark")"
        case .terminationAnnounced: "terminated: it announced that it would end"
        case .terminateMark, .witness, .dumpRecord, nil, .noRun, .processAlive, .crashRecord, .exitMark, .stopMark, .bootDiffers,
            .noMark, .fileUnreadable, .handled, .crashMark, .exec, .tracer, .restartAnnounced, .hangMark, .oomCounter, .cpuLimit, .deadline,
            .nearMemoryLimit, .kernelLog, .memoryShare, .fork, .crashNote:
            bySignal(verdict)
        }
    }

    private func bySignal(_ verdict: Verdict) -> String {
        var text = "terminated: \(verdict.signal?.name ?? "a signal")"
        let dump = crash.flatMap { $0.isRequestedDump && !$0.isHandled ? $0 : nil }
        let sender = dump == nil ? identity?.termination?.senderProcessID : dump?.senderProcessID
        if let sender { text += " sent by process \(sender)" }
        if dump != nil { text += ", with a dump of all threads" }
        return text
    }

    /// The process that asked for the end, and the time that the program lived on.
    private var askedWords: String {
        guard let termination = identity?.termination else { return "asked to end" }
        let sender = termination.senderProcessID.map { " by process \($0)" } ?? ""
        let lived = termination.livedNanoseconds.map { ", still alive \($0.durationText) later" } ?? ""
        return "asked to end\(sender) (\(termination.signal.name))\(lived)"
    }

    private var isSlowToStop: Bool { identity?.termination.map { $0.signal.number != 1 && $0.livedNanoseconds != nil } ?? false }

    /// Whether the time of the end is that of a witness.
    private var endWasSeen: Bool {
        guard let seen = identity?.witness?.monotonicNanoseconds else { return false }
        return verdict?.monotonicNanoseconds == seen
    }

    private var wasSeenKilled: Bool { identity?.witness?.signal?.number == 9 }

    // MARK: - Ended from outside

    private func crashSentence(_ verdict: Verdict) -> String {
        if let crash, !crash.isHandled { return crash.sentence(OwnCode(self), of: identity?.appID, lastWords: lastWords) }
        if verdict.evidenceKind == .crashNote {
            return "crashed: " + (identity?.crashNote?.type.map { "\($0), " } ?? "") + "by its own word, and left no record"
        }
        return "crashed" + (verdict.signal.map { ": \($0.name)" } ?? "") + ", and left no record" + saidWords
    }

    private func killedSentence(_ verdict: Verdict) -> String {
        switch verdict.evidenceKind {
        case .cpuLimit:
            "killed: its CPU time was used up" + cpuWords
        case .deadline: "killed: " + deadlineWords
        case .oomCounter: "killed: ended by SIGKILL; \(Self.anyOfTheGroup)"
        case .witness, nil, .noRun, .processAlive, .crashRecord, .exitMark, .stopMark, .terminateMark, .bootDiffers, .noMark,
            .fileUnreadable, .handled, .crashMark, .exec, .dumpRecord, .tracer, .terminationAnnounced, .restartAnnounced, .hangMark,
            .stopTimeout, .nearMemoryLimit, .kernelLog, .memoryShare, .fork, .crashNote:
            "killed: ended by \(verdict.signal?.name ?? "SIGKILL")" + memoryWords("of memory were in use")
        }
    }

    /// The hanging thread, its place, and the length and begin of the hang.
    private var hangSentence: String {
        guard let identity, let since = identity.hangSinceNanoseconds else { return "hung: its run loop stood still" }
        let heartbeat = heartbeats?.first { $0.hangSinceNanoseconds == since }
        let who = (heartbeat?.threadID ?? hang?.threadID).map { loopName($0, heartbeat?.name ?? hang?.name) } ?? "its run loop"
        let place = hang?.place(OwnCode(self)).map { " \($0.functionInShort)" } ?? ""
        let end = verdict?.monotonicNanoseconds.flatMap { $0 > since ? $0 : nil } ?? lastSignOfLife ?? 0
        let length = end > since ? " for \(endWasSeen ? "" : "at least ")\((end - since).durationText)" : ""
        let start = since > identity.monotonicNanoseconds ? since - identity.monotonicNanoseconds : 0
        return "hung: \(who) stood still\(place)\(length), until it was \(wasSeenKilled ? "killed" : "ended"); "
            + "the last heartbeat came \(start.durationText) after the start"
    }

    /// The stacks of the hang that it ended by.
    public var hang: Snapshot? {
        guard verdict?.end == .hang, let since = identity?.hangSinceNanoseconds else { return nil }
        return snapshots?.first { $0.kind == .hang && $0.sinceNanoseconds == since }
    }

    private func loopName(_ thread: Int32, _ name: String?) -> String {
        if thread == identity?.processID { return "its main thread" }
        if let standIn = ThreadState.standsFor(name) { return standIn }
        return "its thread " + (name.map { "\"\($0)\"" } ?? "\(thread)")
    }

    private var cpuWords: String {
        identity?.cpuLimit.map { ", \($0.usedNanoseconds.durationText) of \($0.limitSeconds) s when last seen" } ?? ""
    }

    /// The job that was found near its deadline first: the evidence.
    private var deadlineWords: String {
        let near = (deadlines ?? []).filter { $0.nearNanoseconds != nil }.min { $0.nearNanoseconds ?? 0 < $1.nearNanoseconds ?? 0 }
        guard let job = near else { return "a job of it was about to overrun its deadline" }
        let length = lastSignOfLife.flatMap { $0 > job.begunNanoseconds ? $0 - job.begunNanoseconds : nil }
        let ran = length.map { " after \($0.durationText)" } ?? ""
        return "its job \"\(job.name)\" had not ended\(ran), with a deadline of \(job.limitText)"
    }

    /// The last moment at which the process is known to have lived.
    var lastSignOfLife: UInt64? {
        let marks = [
            identity?.termination?.monotonicNanoseconds, identity?.termination?.aliveNanoseconds, identity?.cpuLimit?.monotonicNanoseconds,
            identity?.memoryPressure?.monotonicNanoseconds, identity?.announcement?.monotonicNanoseconds,
            identity?.crashNote?.monotonicNanoseconds, identity?.hungAliveNanoseconds, identity?.witness?.monotonicNanoseconds,
        ]
        let taken = (snapshots ?? []).flatMap { [$0.takenNanoseconds, $0.resolvedNanoseconds] }
        let expected = (heartbeats ?? []).map(\.lastBeatNanoseconds) + (deadlines ?? []).flatMap { [$0.begunNanoseconds, $0.nearNanoseconds ?? 0] }
        return ((marks + taken).compactMap(\.self) + expected + (breadcrumbs?.entries.map(\.monotonicNanoseconds) ?? [])).max()
    }

    /// The length of the run, in words; the evidence of some ends is a moment before the end.
    var lifeText: String {
        guard let identity, let verdict, verdict.end != .running else { return "" }
        if endWasSeen || (verdict.end != .unknown && ![.hangMark, .cpuLimit, .deadline, .stopTimeout].contains(verdict.evidenceKind)), let duration = durationNanoseconds {
            return ", lasted \(duration.durationText)"
        }
        guard let last = [lastSignOfLife, verdict.monotonicNanoseconds].compactMap(\.self).max(), last > identity.monotonicNanoseconds else { return "" }
        return ", lived at least \((last - identity.monotonicNanoseconds).durationText)"
    }

    private func unknownSentence(_ verdict: Verdict) -> String {
        switch verdict.evidenceKind {
        case .fork: "ended without a trace right after it forked, as daemon() does: call that before lg_start()"
        case .oomCounter: "ended without a trace: \(Self.anyOfTheGroup)"
        case .nearMemoryLimit: "ended without a trace, short of memory\(memoryWords("were in use")); what ended it is not known"
        case .cpuLimit: "ended without a trace, its CPU time nearly used up\(cpuWords); what ended it is not known"
        case .deadline: "ended without a trace: \(deadlineWords); what ended it is not known"
        case .fileUnreadable: "unknown: its run file is missing or damaged"
        case .noMark, .handled, nil, .noRun, .processAlive, .crashRecord, .exitMark, .stopMark, .terminateMark, .bootDiffers,
            .crashMark, .exec, .dumpRecord, .tracer, .witness, .terminationAnnounced, .restartAnnounced, .hangMark, .stopTimeout, .kernelLog,
            .memoryShare, .crashNote:
            "ended without a trace: killed, or ended without exit(); a witness would have recorded which"
        }
    }

    private static let anyOfTheGroup = "the kernel ended a process of its cgroup for lack of memory, this one or another"

    private func memoryWords(_ words: String) -> String {
        guard let pressure = identity?.memoryPressure else { return "" }
        return ": \(pressure.figures) \(words)"
    }
}
