extension RunReport {
    /// MESSAGE_ID of the end of a run that is no coredump.
    private static let endID = "e1fc1ec7a0b74fb08a0a046ac66e8aa8"
    /// SD_MESSAGE_COREDUMP of sd-messages.h.
    private static let coredumpID = "fc2e22bc6ee647b6b90729ab34a250b1"

    /// The signal of a crash, by its record or by another witness.
    private var fatalSignal: RunSignal? {
        fatalCrash?.signal ?? (verdict?.end == .crash ? verdict?.signal : nil)
    }

    func journalEntryOfEnd(of process: JournalEntry) -> [UInt8] {
        let moment = journalMoment
        let time = fatalCrash?.time ?? time(monotonic: moment)
        var entry = JournalEntry(time: time, monotonic: moment)
        entry.add(process)
        entry.add("MESSAGE_ID", fatalSignal == nil ? Self.endID : Self.coredumpID)
        entry.add("MESSAGE", journalMessage)
        entry.add("PRIORITY", journalPriority)
        entry.add("SYSLOG_IDENTIFIER", "launchguard")
        if let fatalSignal { addCoredump(fatalSignal, time, to: &entry) }
        addEnd(to: &entry)
        return entry.finished()
    }

    private var journalPriority: Int {
        switch verdict?.end {
        case .crash: 2
        case .clean, .terminated, .reboot, .upgrade, .debugger, .running, .noRun: 6
        case .hang, .oom, .killed, .exit, .unknown, nil: fatalSignal == nil ? 3 : 2
        }
    }

    /// The fields of systemd-coredump that the record knows. Readers ask for process, user, group,
    /// signal and name; the group is not in a record, and stands as (gid_t)-1, which is none.
    private func addCoredump(_ signal: RunSignal, _ time: Timestamp?, to entry: inout JournalEntry) {
        entry.add("COREDUMP_PID", identity?.processID)
        entry.add("COREDUMP_UID", identity?.userID)
        entry.add("COREDUMP_GID", UInt32.max)
        entry.add("COREDUMP_SIGNAL", signal.number)
        entry.add(escaped: "COREDUMP_SIGNAL_NAME", signal.name)
        entry.add("COREDUMP_TIMESTAMP", time.map { $0.nanoseconds / 1000 })
        entry.add(escaped: "COREDUMP_COMM", processName)
        entry.add(escaped: "COREDUMP_EXE", identity?.executable)
        entry.add(escaped: "COREDUMP_CMDLINE", commandLine)
        entry.add(escaped: "COREDUMP_UNIT", system?.unit)
        entry.add("COREDUMP_PROC_MAPS", recordedCrash?.memoryMap?.procText)
        entry.add("COREDUMP_PROC_STATUS", procStatusText)
        let modules = (modules ?? []).filter { $0.buildID != nil }.map { ($0.path, ["buildId": $0.buildID]) }
        if !modules.isEmpty { entry.add("COREDUMP_PACKAGE_JSON", JSONLine.text(Dictionary(modules) { first, _ in first })) }
    }

    private func addEnd(to entry: inout JournalEntry) {
        entry.add("LAUNCHGUARD_END", verdict?.end.rawValue)
        entry.add("LAUNCHGUARD_EVIDENCE", verdict?.evidence)
        entry.add("LAUNCHGUARD_SIGNAL", (fatalSignal ?? verdict?.signal)?.name)
        entry.add("LAUNCHGUARD_EXIT_CODE", verdict?.exitCode)
        entry.add("LAUNCHGUARD_FINGERPRINT", fingerprint)
        entry.add("LAUNCHGUARD_BUILD_ID", identity?.buildID)
        for annotation in annotations ?? [] { entry.add("LAUNCHGUARD_ANNOTATION", annotation.key, annotation.value) }
        entry.add("LAUNCHGUARD_STANDARD_ERROR", standardError?.text)
        guard let crash = fatalCrash else { return }
        entry.add("TID", crash.threadID)
        entry.add("LAUNCHGUARD_KIND", crash.finestKind)
        entry.add("LAUNCHGUARD_SIGNAL_CODE", crash.codeName ?? "\(crash.code)")
        entry.add("LAUNCHGUARD_ADDRESS", crash.address)
        for message in crash.messages ?? [] { entry.add("LAUNCHGUARD_MESSAGE", message.demangled ?? message.text) }
        if let registers = crash.registers { entry.add("LAUNCHGUARD_REGISTERS", registers.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")) }
        let named = [(crash.threadID, crash.threadName)] + (recordedCrash?.threads ?? []).map { ($0.threadID, $0.name) }
        entry.add("LAUNCHGUARD_THREADS", named.map { "\($0)" + ($1.map { " " + $0 } ?? "") }.joined(separator: "\n"))
    }
}

// MARK: - The message

extension RunReport {
    /// In the form of systemd-coredump: a sentence, the modules, and the stacks of the threads, the
    /// crashed one first.
    private var journalMessage: String {
        var writer = TextWriter()
        let process = identity.map { "Process \($0.processID)" + (processName.map { " (\($0))" } ?? "") + " of user \($0.userID): " } ?? ""
        writer.line(process + headline)
        let named = (modules ?? []).filter { $0.buildID != nil }
        if fatalSignal != nil, !named.isEmpty {
            writer.endLine()
            for module in named { writer.line("Module \(module.name), build-id=\(module.buildID ?? "")") }
        }
        var known: Set<Int32> = []
        for (id, stack, callee) in journalStacks where known.insert(id).inserted {
            writer.endLine()
            writer.line("Stack trace of thread \(id):")
            write(stack.pieces, to: &writer)
            if let text = stack.endText { writer.line(text) }
            write(callee.asyncPieces(of: stack), "[async] ", to: &writer)
        }
        return String(writer.text.dropLast())
    }

    private var journalStacks: [(Int32, Stack, any AsyncCallee)] {
        let crashed = [fatalCrash, recordedCrash].compactMap(\.self).compactMap { crash in crash.stack.map { (crash.threadID, $0, crash as any AsyncCallee) } }
        let others = crashed.isEmpty ? (hang ?? lastSnapshot).map { [$0.parts.first].compactMap(\.self) + $0.parts.others } : recordedCrash?.threads
        return crashed + (others ?? []).compactMap { thread in thread.stack.map { (thread.threadID, $0, thread) } }
    }

    /// One line a frame, with the function that the program was in, inlined or not.
    private func write(_ pieces: [Stack.Piece], _ mark: String = "", to writer: inout TextWriter) {
        for piece in pieces {
            switch piece {
            case .frame(let frame, let number):
                let start = module(at: frame.lookup)?.start
                let place = start.map { "\(frame.module?.lastPathPart ?? "n/a") + \(Address(frame.address.value &- $0.value).short)" } ?? "n/a + 0x0"
                writer.line("#\(number)\(number < 10 ? " " : "") \(mark)\(frame.address) \(frame.symbols?.first?.name ?? "n/a") (\(place))")
            case .gap(let words): writer.line("… \(words) …")
            }
        }
    }
}
