extension SwiftCrashLog {
    /// The log of a run; nil: it holds no record of a crash that the run ended by.
    ///
    /// - Parameter run: The run. Its frames have functions and lines only if those were looked up
    ///   before. The bytes of memory in it are not in the log.
    public init?(_ run: RunReport) {
        guard let crash = run.fatalCrash, let recorded = run.recordedCrash else { return nil }
        timestamp = crash.time.map { $0.description.prefix(26) + "Z" }
        description = crash.message ?? Self.words[crash.signal.number] ?? crash.signal.name
        faultAddress = crash.address
        platform = Self.platform(run.system)
        architecture = Self.architecture(run, crash)
        let images = Images(run, recorded.memoryMap)
        var known: Set<Int32> = [crash.threadID]
        threads = [Thread(crash, images)]
        if recorded.threadID != crash.threadID, known.insert(recorded.threadID).inserted {
            var thread = Thread(recorded, images)
            thread.crashed = nil
            threads.append(thread)
        }
        for state in recorded.threads ?? [] where known.insert(state.threadID).inserted { threads.append(Thread(state, images)) }
        self.images = images.all
        launchguard = Own(
            identity: run.identity, system: run.system, verdict: run.verdict, signal: crash.signal, kind: crash.finestKind,
            fingerprint: run.fingerprint, messages: crash.messages, annotations: run.annotations, breadcrumbs: run.breadcrumbs, standardError: run.standardError)
    }

    /// The runtime's names of the signals that it knows.
    private static let words: [Int32: String] = [
        3: "Terminated", 4: "Illegal instruction", 5: "System trap", 6: "Aborted", 7: "Bus error", 8: "Floating point exception",
        11: "Bad pointer dereference",
    ]

    private static func platform(_ system: RunSystem?) -> String {
        let distribution = [system?.distribution, system?.distributionVersion].compactMap(\.self).joined(separator: " ")
        return distribution.isEmpty ? "Linux" : "Linux (\(distribution))"
    }

    private static func architecture(_ run: RunReport, _ crash: Crash) -> String? {
        if crash.registers?.contains(where: { $0.name == "rip" }) == true || run.system?.hardware == "x86_64" { return "x86_64" }
        return crash.registers?.contains { $0.name == "pc" } == true || run.system?.hardware == "aarch64" ? "arm64" : nil
    }
}

extension SwiftCrashLog {
    /// The modules with the names of their files, as the memory map has them: the loader may know a
    /// module by the name of a link.
    struct Images {
        private let run: RunReport
        private let names: [String: String]
        let all: [Image]

        init(_ run: RunReport, _ map: MemoryMap?) {
            let images = (run.modules ?? []).map { module in
                let parts = (map?.mappings ?? []).filter { $0.start < module.end && module.start < $0.end }
                let file = parts.first { $0.contains(module.start) }?.path.flatMap { $0.hasPrefix("/") ? $0 : nil }
                let end = parts.filter(\.isExecutable).map(\.end).max()
                return Image(
                    name: (file ?? module.path).lastPathPart, buildId: module.buildID, path: file ?? module.path, baseAddress: module.start,
                    endOfText: end ?? module.end)
            }
            all = images
            self.run = run
            names = Dictionary(zip((run.modules ?? []).map(\.path), images.map(\.name))) { first, _ in first }
        }

        func name(of frame: LaunchGuardReportModel.Frame) -> String? { frame.module.map { names[$0] ?? $0.lastPathPart } }
    }
}

extension SwiftCrashLog.Thread {
    init(_ crash: Crash, _ images: SwiftCrashLog.Images) {
        name = crash.threadName
        crashed = true
        registers = Self.named(crash.registers)
        frames = SwiftCrashLog.Frame.all(of: crash.stack, images) + crash.asyncCallers.flatMap { SwiftCrashLog.Frame.all(of: $0, images) }
    }

    init(_ state: ThreadState, _ images: SwiftCrashLog.Images) {
        name = state.name
        registers = Self.named(state.registers)
        frames = SwiftCrashLog.Frame.all(of: state.stack, images) + state.asyncCallers.flatMap { SwiftCrashLog.Frame.all(of: $0, images) }
    }

    private static func named(_ registers: [Crash.Register]?) -> [String: Address]? {
        let names = ["eflags": "rflags", "x29": "fp", "x30": "lr"]
        return registers.map { Dictionary($0.map { (names[$0.name] ?? $0.name, $0.value) }) { first, _ in first } }
    }
}

extension SwiftCrashLog.Frame {
    private init(kind: String, count: UInt64? = nil) {
        self.kind = kind
        self.count = count
    }

    static func all(of stack: Stack?, _ images: SwiftCrashLog.Images) -> [Self] {
        guard let stack else { return [] }
        var frames: [Self] = []
        for (index, frame) in stack.frames.enumerated() {
            if index == stack.innermost, stack.omitted > 0 { frames.append(Self(kind: "omittedFrames", count: stack.omitted)) }
            frames += all(of: frame, stack.method == .async ? "asyncResumePoint" : index == 0 ? "programCounter" : "returnAddress", images)
        }
        if stack.isTruncated { frames.append(Self(kind: "truncated")) }
        return frames
    }

    static func all(of chain: AsyncChain, _ images: SwiftCrashLog.Images) -> [Self] {
        chain.callers.flatMap { all(of: $0, "asyncResumePoint", images) } + (chain.isTruncated ? [Self(kind: "truncated")] : [])
    }

    /// One for each function at the address, the innermost first.
    private static func all(of frame: Frame, _ kind: String, _ images: SwiftCrashLog.Images) -> [Self] {
        var plain = Self(kind: kind)
        plain.address = frame.address
        plain.image = images.name(of: frame)
        guard let symbols = frame.symbols, !symbols.isEmpty else { return [plain] }
        return symbols.map { symbol in
            var named = plain
            let back = frame.address.value &- frame.lookup.value
            let offset = symbol.isInlined ? 0 : symbol.offset.map { $0 >= back ? $0 - back : 0 }
            named.inlined = symbol.isInlined ? true : nil
            named.symbol = symbol.mangledName ?? symbol.name
            named.offset = offset
            named.description = symbol.name + (offset.map { $0 == 0 ? "" : " + \($0)" } ?? "")
            named.sourceLocation = symbol.file.map { .init(file: $0, line: symbol.line ?? 0, column: symbol.column ?? 0) }
            return named
        }
    }
}
