extension Crash {
    /// The crashed thread with its stack.
    func writeThread(to writer: inout TextWriter) {
        writer.heading(threadWords + (isRequestedDump ? " took the signal" : " crashed"))
        writeStack(to: &writer)
    }

    /// Signal, kind and address, for example "SIGSEGV (fault.null_offset) at address 0x18".
    var signalWords: String { "\(signal.name) (\(finestKind))" + (address.map { " at address \($0.short)" } ?? "") }

    /// Number and name of the thread.
    var threadWords: String { "thread \(threadID)" + (threadName.map { " \"\($0)\"" } ?? "") }

    /// The thread's stack, and what else may be one.
    func writeStack(to writer: inout TextWriter) {
        guard let stack else {
            writer.line("  no stack was stored: the record ends after the stage \(stages.last?.rawValue ?? "none")", .yellow)
            return
        }
        writer.line("  " + explanation(of: stack), .dim)
        if let words = stack.words(against: storedStack) { writer.line("  " + words, .yellow) }
        if let stackDisagreement { writer.line("  the two walks disagree: \(stackDisagreement)", .yellow) }
        stack.write(to: &writer)
        writeAsyncCallers(of: stack, to: &writer)
        guard let possibleFrames, !possibleFrames.isEmpty else { return }
        writer.endLine()
        let what = "words of its stack that point into code; some may be callers, others are left over"
        writer.line("  possible frames (stack scan): \(what)", .yellow)
        for frame in possibleFrames {
            for line in frame.descriptions {
                writer.add("  ?  ", .dim)
                writer.line("\(frame.address) \(line)")
            }
        }
    }

    /// The messages, the place of the faulting address, and the unknown parts of the signal.
    func writeMessages(to writer: inout TextWriter) {
        for message in messages ?? [] { message.write(to: &writer) }
        if let address, let addressPlace {
            writer.add("  ")
            writer.add("address:", width: 11, .dim)
            writer.line("\(address.short) is \(addressPlace)")
        }
        for doubt in doubts { writer.line("  " + doubt, .yellow) }
    }

    /// Warnings for a person who reads the record, a sentence each.
    var doubts: [String] {
        [
            isExiting == true ? "the process had passed through exit() before" : nil,
            isOfAnyThread == true ? "the signal was sent to the process: the thread that got it is arbitrary" : nil,
            isSiginfoLost == true ? "code, address and sender are not known: the program took SA_SIGINFO from the handler" : nil,
        ].compactMap(\.self)
    }

    /// The walk that is shown, and the reason.
    func explanation(of stack: Stack) -> String {
        let count = stack.summary
        switch (stack.method, dwarfStack) {
        case (.dwarf, _), (.async, _), (.unknown, _):
            return count
        case (.framePointers, let dwarf?):
            return "\(count): DWARF unwinding ended after \(dwarf.total) (\(dwarf.reason ?? "no reason is stored"))"
        case (.framePointers, nil):
            return isBrief == true ? count : "\(count): DWARF unwinding was not committed"
        }
    }

    /// Registers, signal details and notes.
    func writeDetails(to writer: inout TextWriter) {
        if let registers {
            writer.heading("registers")
            for start in stride(from: 0, to: registers.count, by: 3) {
                for register in registers[start..<min(start + 3, registers.count)] {
                    writer.add("  ")
                    writer.add(register.name, width: 7)
                    writer.add("\(register.value)")
                }
                writer.endLine()
            }
        }
        if let notes {
            writer.heading("also happened while the record was written")
            for note in notes { writer.line("  " + note.words) }
        }
    }
}

extension Crash.Note {
    var words: String {
        let what = kind == .recrash ? "the handler crashed" + (stage.map { " in the stage \($0.rawValue)" } ?? "") : "another thread crashed"
        return "\(what): \(signal.name) in thread \(threadID) at \(programCounter.short)"
    }
}

extension Crash {
    /// The memory in the record: stretches of stacks in one line, and the map on request.
    var memorySummary: String? {
        guard let memory, !memory.isEmpty else { return nil }
        let bytes = memory.reduce(0 as UInt64) { $0 + UInt64($1.size) }
        let cut = cutStacks.map { ", \($0) of them cut short for lack of room" } ?? ""
        return "\(bytes.bytesText) of \(UInt64(memory.count).counting("stack", "stacks"))\(cut)"
    }

    func writeMemory(to writer: inout TextWriter, includesMap: Bool) {
        if memorySummary != nil || memoryMap != nil, !(includesMap && memorySummary == nil) {
            writer.heading("memory")
            if let memorySummary { writer.line("  \(memorySummary) (with --json --memory)") }
            if let memoryMap, !includesMap {
                let cut = memoryMap.isCut ? ", then no room for the rest" : ""
                writer.line("  \(UInt64(memoryMap.mappings.count).counting("mapping", "mappings"))\(cut) (with --map)")
            }
        }
        if includesMap { memoryMap?.write(to: &writer) }
    }
}
