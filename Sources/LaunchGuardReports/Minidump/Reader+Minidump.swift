internal import CLaunchGuard

/// Why a run does not become a minidump.
public enum MinidumpProblem: Error {
    /// There is no stack: the program neither crashed nor hung.
    case noStack
    /// Neither registers nor the system's words say which processor it was, or minidumps have no
    /// form for it here.
    case unknownProcessor
    /// Larger than 4 GiB.
    case tooLarge
    case unreadable(ReportError)
}

extension Reader {
    /// The run as a minidump, of its crash, or else of the stacks that were taken last while it
    /// lived, and whether a part of the file is damaged. Redacted values are not in the minidump.
    /// docs/EXPORT.md lists its contents.
    ///
    /// - Parameter symbolicate: Adds the symbols of a run, without which no asynchronous caller is
    ///   known.
    public func minidump(_ symbolicate: (RunReport) -> RunReport = { $0 }) throws(MinidumpProblem) -> (bytes: [UInt8], isDamaged: Bool) {
        let report: RunReport
        do throws(ReportError) {
            report = try run(includingMemory: true)
        } catch {
            throw .unreadable(error)
        }
        let callers = report.asyncCallees.isEmpty ? nil : symbolicate(report).asyncCallersText
        return (try report.minidump(without: MinidumpSecrets(redactedValues()), callers), report.isDamaged)
    }
}

extension RunReport {
    func minidump(without secrets: MinidumpSecrets, _ asyncCallers: String?) throws(MinidumpProblem) -> [UInt8] {
        guard crash != nil || lastSnapshot != nil else { throw .noStack }
        guard let processor = MinidumpProcessor(self) else { throw .unknownProcessor }
        let recorded = recordedCrash
        let crashes = [crash, recorded == crash ? nil : recorded].compactMap(\.self)
        let moment = crash?.time ?? time(monotonic: verdict?.monotonicNanoseconds ?? lastSnapshot?.takenNanoseconds ?? 0)
        var file = MinidumpFile()
        file.addSystem(system, processor)
        file.addMiscInfo(identity, recorded)
        file.addThreads(MinidumpThread.all(of: self, processor), MinidumpMemory(crashes, without: secrets), crash)
        if crash == nil, let thread = lastSnapshot?.threadID, thread != 0 { file.addRequest(thread) }
        file.addModules(of: self)
        file.addMaps(recorded?.memoryMap)
        file.addStatus(of: self)
        file.addAnnotations(minidumpAnnotations(asyncCallers), run: identity?.uuid)
        guard let bytes = file.finished(seconds: (moment?.nanoseconds ?? 0) / 1_000_000_000) else { throw .tooLarge }
        return bytes
    }

    /// The annotations of the program, and what no stream has a place for. A redacted annotation is
    /// left out.
    private func minidumpAnnotations(_ asyncCallers: String?) -> [(key: String, value: String)] {
        let own = (annotations ?? []).compactMap { annotation in annotation.value.map { (annotation.key, $0) } }
        let more: [(String, String?)] = [
            ("launchguard.app", identity?.appID), ("launchguard.version", identity?.appVersion), ("launchguard.end", verdict?.summary),
            ("launchguard.fingerprint", fingerprint), ("launchguard.kind", crash?.kind), ("launchguard.message", crash?.messages?.first?.text),
            ("launchguard.async", asyncCallers),
        ]
        let known = Set((annotations ?? []).map(\.key))
        return own + more.compactMap { key, value in known.contains(key) ? nil : value.map { (key, $0) } }
    }

    /// The threads of a minidump that may have asynchronous callers, the one that matters first.
    fileprivate var asyncCallees: [(thread: String, callee: any AsyncCallee, stack: Stack)] {
        let threads = crash == nil ? lastSnapshot.map { [$0.parts.first].compactMap(\.self) + $0.parts.others } : recordedCrash?.threads
        let crashed = crash.flatMap { crash in crash.stack.map { (crash.threadWords, crash as any AsyncCallee, $0) } }
        let others = (threads ?? []).compactMap { thread in thread.stack.map { (thread.cpuTime.thread, thread as any AsyncCallee, $0) } }
        return ([crashed].compactMap(\.self) + others).filter { $0.1.asyncChains != nil }
    }

    /// The asynchronous callers in the words of the text; nil: none are known.
    fileprivate var asyncCallersText: String? {
        var writer = TextWriter()
        for (thread, callee, stack) in asyncCallees where !callee.asyncCallers.isEmpty {
            writer.line(thread)
            callee.writeAsyncCallers(of: stack, to: &writer)
        }
        return writer.text.isEmpty ? nil : String(writer.text.dropLast())
    }
}
