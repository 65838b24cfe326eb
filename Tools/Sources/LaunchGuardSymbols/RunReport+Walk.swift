internal import LaunchGuardReportModel

extension [RunReport] {
    /// Reports that one process walks.
    private static var reportsAtOnce: Int { 64 }

    /// Walk stacks that leave a doubt again, and take what is better.
    ///
    /// - Parameter program: a program, with its first arguments, that answers as
    ///   `StackWalker.answer(to:)` does.
    package mutating func walkAgain(_ extent: StackWalker.Extent, _ program: [String], debugDirectories: [String]) {
        let doubtful = indices.filter { self[$0].hasDoubts(extent) }
        for start in stride(from: 0, to: doubtful.count, by: Self.reportsAtOnce) {
            walkAgain(doubtful[start...].prefix(Self.reportsAtOnce), extent, program, debugDirectories)
        }
    }

    private mutating func walkAgain(_ indexes: ArraySlice<Int>, _ extent: StackWalker.Extent, _ program: [String], _ debugDirectories: [String]) {
        let arguments = program.dropFirst().map(\.self) + StackWalker.arguments(for: indexes.map { self[$0].path }, extent, debugDirectories)
        // A server of debug files may take its own minute.
        let output = Subprocess.output(of: program[0], arguments, seconds: 150)
        if let answers = output.flatMap(StackWalker.answers), answers.count == indexes.count {
            for (index, answer) in zip(indexes, answers) { self[index].take(answer) }
        } else if indexes.count > 1 {
            // A file that is too much costs no other its walk.
            for index in indexes { walkAgain([index], extent, program, debugDirectories) }
        } else {
            for index in indexes { self[index].addProblem(.ofWalk("the walk failed")) }
        }
    }
}

extension RunReport {
    fileprivate mutating func take(_ answer: StackWalker.Answer) {
        if let problem = answer.problem { addProblem(.ofWalk(problem)) }
        changeCrashes { crash in
            for walk in answer.walks where walk.crash == crash.sequence { crash.take(walk) }
        }
    }
}

extension Problem {
    fileprivate static func ofWalk(_ message: String) -> Problem {
        Problem(part: "stacks", code: "not-walked-again", message: "they leave a doubt, and were not walked again: \(message)")
    }
}

extension Crash {
    fileprivate mutating func take(_ walk: StackWalker.Walk) {
        if walk.threadID == threadID {
            // A living process may have crashed again meanwhile.
            guard walk.stack.frames.first?.address == programCounter, walk.stack.isBetter(than: stack, storedByTables: dwarfStack) else { return }
            storedStack = dwarfStack
            dwarfStack = walk.stack
            // It was about the handler's two walks.
            if framePointerStack?.addresses.allSatisfy(walk.stack.addresses.contains) == true { stackDisagreement = nil }
            if !walk.stack.isTruncated, walk.stack.assumedFrames == nil { possibleFrames = nil }
        }
        for index in (threads ?? []).indices where threads![index].threadID == walk.threadID {
            let stored = threads![index].stack
            guard walk.stack.isBetter(than: stored, storedByTables: stored) else { continue }
            threads![index].storedStack = stored
            threads![index].stack = walk.stack
        }
    }
}

extension Stack {
    /// Whether this walk is to be shown in the place of the handler's, `shown`.
    ///
    /// What the handler found by unwind tables alone is certain: a walk that has other frames there
    /// is wrong. Where the handler assumed frames, those that this walk does not have may be wrong.
    fileprivate func isBetter(than shown: Stack?, storedByTables tables: Stack?) -> Bool {
        guard let shown, !shown.frames.isEmpty else { return true }
        guard shown.total <= 512, frames.first?.address == shown.frames[0].address else { return false }
        if let tables, !addresses.starts(with: tables.certainFrames.map(\.address)) { return false }
        let (doubts, earlier) = (assumedFrames ?? 0, shown.method == .dwarf ? shown.assumedFrames ?? 0 : .max)
        // A wrong caller is worse than none.
        if reason == StackWalker.contradiction, earlier > 0 { return addresses != shown.addresses }
        if isTruncated == shown.isTruncated, frames.count == shown.frames.count { return doubts < earlier || earlier > 0 && addresses != shown.addresses }
        return isTruncated ? frames.count > shown.frames.count : true
    }

    fileprivate var addresses: [Address] { frames.map(\.address) }
}
