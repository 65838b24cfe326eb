extension Crash {
    /// The other threads: those with the same stack in one block. `crashed`: the thread at whose
    /// crash they were taken, where that is not the one above.
    func writeOtherThreads(to writer: inout TextWriter, at crashed: Int32? = nil) {
        let threads = self.threads ?? []
        guard !threads.isEmpty || threadCounts != nil else { return }
        let missing = missingThreads
        if threads.isEmpty, missing.isEmpty { return }
        writer.heading("other threads" + (crashed.map { ", when thread \($0) crashed" } ?? ""))
        let own = CPUTime(thread: threadWords, nanoseconds: cpuNanoseconds ?? 0)
        if let hottest = CPUTime.hottest(of: [own] + threads.map(\.cpuTime)) { writer.line("  " + hottest) }
        ThreadState.write(threads, to: &writer)
        for line in missing { writer.line("  " + line, .yellow) }
    }

    /// The missing parts of the other threads, a sentence each.
    var missingThreads: [String] {
        guard let counts = threadCounts else { return ["the handler ended before it had counted the threads: there may be more"] }
        var lines: [String] = []
        func say(_ count: UInt32, _ one: String, _ many: String) {
            if count > 0 { lines.append(count == 1 ? "1 \(one)" : "\(count) \(many)") }
        }
        let shown = { (how: ThreadState.How) in UInt32(clamping: threads?.count { $0.how == how } ?? 0) }
        say(
            counts.masked - min(counts.masked, shown(.masked)), "more thread blocks every signal: it could not be asked for its stack",
            "more threads block every signal: they could not be asked for their stacks")
        let late = "did not answer within \(counts.waitedNanoseconds.durationText)"
        say(counts.silent - min(counts.silent, shown(.silent)), "more thread \(late)", "more threads \(late)")
        say(counts.omitted, "more thread is not shown: the record had no room for it", "more threads are not shown: the record had no room for them")
        if let problem = counts.listProblem { lines.append("the list of threads is not complete: \(problem)") }
        return lines
    }
}

extension ThreadState {
    /// Threads, those with the same stack in one block; `role`: what they did.
    static func write(_ threads: [ThreadState], to writer: inout TextWriter, role: String? = nil) {
        for group in groups(of: threads) {
            writer.line("  " + title(of: group) + (role.map { ", which \($0)" } ?? ""))
            let first = group[0]
            for line in first.remarks { writer.line("    " + line, .yellow) }
            guard let stack = first.stack else { continue }
            writer.line("    " + stack.summary, .dim)
            if let words = stack.words(against: first.storedStack) { writer.line("    " + words, .yellow) }
            stack.write(to: &writer, indent: "    ")
            first.writeAsyncCallers(of: stack, to: &writer, indent: "    ")
        }
    }

    /// Threads with the same state and the same stack, in the order of their first ones.
    static func groups(of threads: [ThreadState]) -> [[ThreadState]] {
        var order: [Alike] = []
        var groups: [Alike: [ThreadState]] = [:]
        for thread in threads {
            let alike = Alike(thread)
            if groups[alike] == nil { order.append(alike) }
            groups[alike, default: []].append(thread)
        }
        return order.compactMap { groups[$0] }
    }

    /// Common values of threads that are shown as one. Threads without a stack are alike only if
    /// they have the same name.
    private struct Alike: Hashable {
        var how: ThreadState.How
        var state: String?
        var name: String?
        var stack: Stack?
        var asyncCallers: [AsyncChain]
        var asyncLoss: String?

        init(_ thread: ThreadState) {
            how = thread.how
            state = thread.state
            stack = thread.stack
            asyncCallers = thread.asyncCallers
            asyncLoss = thread.asyncLoss
            name = thread.stack == nil ? thread.name : nil
        }
    }

    static func title(of group: [ThreadState]) -> String {
        var names: [String] = []
        for name in group.compactMap(\.name) where !names.contains(name) { names.append(name) }
        let numbers = group.map { "\($0.threadID)" }
        let shown = numbers.count > 12 ? Array(numbers.prefix(12)) + ["…"] : numbers
        var text = numbers.count == 1 ? "thread \(numbers[0])" : "threads \(shown.joined(separator: ", ")) (\(numbers.count))"
        if !names.isEmpty { text += " " + names.prefix(4).map { "\"\($0)\"" }.joined(separator: ", ") + (names.count > 4 ? ", …" : "") }
        if let state = group[0].stateText { text += ", \(state)" }
        if let time = cpuWords(of: group) { text += ", \(time)" }
        return text
    }
}

extension ThreadState {
    /// The state in words.
    var stateText: String? {
        switch state {
        case "R": "running"
        case "S": "sleeping"
        case "D": "in uninterruptible sleep"
        case "T": "stopped"
        case "t": "stopped by a debugger"
        case "Z", "X": "ended"
        case "I": "idle"
        case let letter?: "in the state \(letter)"
        case nil: nil
        }
    }

    /// Why there is no stack.
    var remarks: [String] {
        switch how {
        case .captured: stack == nil ? ["its stack was not walked"] : []
        case .masked: ["it blocks every signal" + (stack == nil ? ": its registers and its stack are not known" : ": its registers are not known")]
        case .silent: ["it did not answer in time" + (stack == nil ? ": its registers and its stack are not known" : "")]
        case .task: ["its task waits, and no thread runs it: these functions wait for each other"]
        default: ["it was captured in a way that this version does not know (\(how.rawValue))"]
        }
    }
}

extension Stack {
    /// Number of frames, method, and what of it is a guess.
    var summary: String {
        var text = "\(total.counting("frame", "frames")), by \(method.words)"
        if let assumed = assumedFrames {
            text += "; \(UInt64(assumed).counting("frame is", "frames are")) assumed: code without unwind tables, passed by frame pointer"
        }
        return text
    }
}

extension Stack {
    /// With what the stack was walked again, and what the handler's walk had in its place; nil: it
    /// is the handler's.
    func words(against stored: Stack?) -> String? {
        guard let walkedAgainWith else { return nil }
        let start = "walked again with \(walkedAgainWith)"
        guard let stored else { return start + ": the handler had stored no walk by unwind tables" }
        var text = start + ": the handler had stored \(stored.total.counting("frame", "frames"))"
        let addresses = Set(frames.map(\.address))
        let lost = UInt64(stored.frames.count { !addresses.contains($0.address) })
        if lost > 0 { text += ", of which \(lost.counting("is", "are")) not among these" }
        return text
    }
}

extension Stack.Method {
    var words: String {
        switch self {
        case .dwarf: "DWARF unwinding"
        case .async: "the contexts of its task"
        case .framePointers: "frame pointers"
        case .unknown: "a method that this version does not know"
        }
    }
}
