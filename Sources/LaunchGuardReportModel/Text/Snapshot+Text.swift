extension Snapshot {
    /// The stacks, that of the thread that matters first.
    func write(to writer: inout TextWriter) {
        writer.heading(title)
        if let length { writer.line("  it was over after \(length.durationText)", .dim) }
        let (first, remarks, others) = parts
        for remark in remarks { writer.line("  " + remark, .yellow) }
        if let first { ThreadState.write([first], to: &writer, role: role) }
        if let hottest = CPUTime.hottest(of: (threads ?? []).map(\.cpuTime)) { writer.line("  " + hottest) }
        ThreadState.write(others, to: &writer)
        for line in missing { writer.line("  " + line, .yellow) }
    }

    /// Action of the thread that matters.
    var role: String { kind == .hang ? "hung" : "began the job" }

    /// The thread that matters, what is to be known of it, and the other threads.
    var parts: (first: ThreadState?, remarks: [String], others: [ThreadState]) {
        var others = threads ?? []
        guard threadID != 0 else { return (nil, [], others) }
        guard let index = others.firstIndex(where: { $0.threadID == threadID }) else {
            return (nil, ["thread \(threadID), which \(role), is not in the snapshot"], others)
        }
        let first = others.remove(at: index)
        let waited = kind == .hang ? ThreadState.standsFor(first.name) : nil
        return (first, waited.map { ["the thread that blocks \($0) is one of the other threads; the first thread waits for it"] } ?? [], others)
    }

    /// Where the thread that matters stood. A thread that stands for something else stands nowhere
    /// itself.
    func place(_ own: OwnCode) -> String? {
        guard let thread = threads?.first(where: { $0.threadID == threadID }), ThreadState.standsFor(thread.name) == nil else { return nil }
        return own.place(in: thread.stack)
    }

    private func passed(_ time: UInt64) -> UInt64 { time >= sinceNanoseconds ? time - sinceNanoseconds : 0 }

    /// How long it took in all, where it was over.
    var length: UInt64? { resolvedNanoseconds.map(passed) }

    var title: String {
        let after = "taken after \(passed(takenNanoseconds).durationText)"
        return switch kind {
        case .hang: "stacks while it hung, \(after)"
        case .memory: "stacks when memory came near its limit, \(after)"
        case .deadline: "stack of the job \"\(name ?? "")\", which was about to overrun its deadline, \(after)"
        default: "stacks, taken for a reason that this version does not know (\(kind.rawValue))"
        }
    }

    var missing: [String] {
        var lines: [String] = []
        if !isComplete { lines.append("the program ended before all of it was taken") }
        guard let counts = threadCounts else { return lines }
        if counts.omitted > 0 { lines.append("\(UInt64(counts.omitted).counting("more thread is", "more threads are")) not shown: there was no room") }
        if let problem = counts.listProblem { lines.append("the list of threads is not complete: \(problem)") }
        return lines
    }
}

extension RunReport {
    /// Run loops and jobs, as they stood at the end.
    func writePulse(to writer: inout TextWriter) {
        func thread(_ number: Int32, _ name: String?) -> String { "thread \(number)" + (name.map { " \"\($0)\"" } ?? "") }
        func since(_ time: UInt64) -> String {
            guard let start = identity?.monotonicNanoseconds, time >= start else { return "before the start" }
            return "\((time - start).durationText) after the start"
        }
        guard heartbeats != nil || deadlines != nil else { return }
        writer.heading("run loops and jobs")
        for heartbeat in heartbeats ?? [] {
            let beat = "last heartbeat \(since(heartbeat.lastBeatNanoseconds))"
            let state = heartbeat.hangSinceNanoseconds != nil ? ": it hung" : heartbeat.isPaused ? ", then it waited" : ""
            writer.line("  \(thread(heartbeat.threadID, heartbeat.name)): \(beat)\(state)", heartbeat.hangSinceNanoseconds != nil ? .red : .plain)
        }
        for job in deadlines ?? [] {
            let state = job.nearNanoseconds.map { ", near it \(since($0))" } ?? ""
            writer.line(
                "  job \"\(job.name)\" of thread \(job.threadID): begun \(since(job.begunNanoseconds)), deadline \(job.limitText)\(state)",
                job.nearNanoseconds != nil ? .red : .plain)
        }
    }
}

extension Deadline {
    var limitText: String { (UInt64(limitMilliseconds) * 1_000_000).durationText }
}

extension ThreadState {
    /// The actor or pool that a thread of LaunchGuard stands for (`watchMainActor()`,
    /// `watchTaskPool()`), as it has no thread of its own; nil: the thread stands for itself.
    static func standsFor(_ name: String?) -> String? {
        switch name {
        case "main actor": "its main actor"
        case "task pool": "its concurrency pool"
        default: nil
        }
    }
}
