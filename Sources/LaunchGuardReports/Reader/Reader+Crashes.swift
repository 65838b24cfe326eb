internal import CLaunchGuard

extension Reader {
    /// The crash that counts, which stays selected, and all others.
    func addCrashes(to report: inout RunReport, _ count: UInt32, includingMemory: Bool, _ problems: inout Problems) {
        var end: UInt32 = 0
        for index in 0..<count where unsafe lg_reader_select_crash(handle, index) == LG_OK {
            var info = lg_crash_info()
            if unsafe lg_reader_crash(handle, &info) == LG_OK, info.is_end != 0 { end = index }
        }
        problems.prefix = "another crash: "
        for index in 0..<count where index != end {
            guard unsafe lg_reader_select_crash(handle, index) == LG_OK,
                let crash = crash(in: report, includingMemory: includingMemory, &problems)
            else { continue }
            report.otherCrashes = (report.otherCrashes ?? []) + [crash]
        }
        problems.prefix = ""
        _ = unsafe lg_reader_select_crash(handle, end)
        report.crash = crash(in: report, includingMemory: includingMemory, &problems)
    }

    /// The selected crash.
    private func crash(in report: RunReport, includingMemory: Bool, _ problems: inout Problems) -> Crash? {
        var info = lg_crash_info()
        guard problems.isUsable(unsafe lg_reader_crash(handle, &info), "crash header") else { return nil }
        var crash = Crash(&info)
        let registers = problems.list("registers", limit: 256) { index, register in
            unsafe lg_reader_register(handle, index, &register)
        } as: { Crash.Register(name: string(&$0.name), value: Address($0.value)) }
        crash.registers = registers.isEmpty ? nil : registers
        let notes = problems.list("notes", limit: 65536) { index, note in
            unsafe lg_reader_note(handle, index, &note)
        } as: { Crash.Note($0) }
        crash.notes = notes.isEmpty ? nil : notes
        crash.framePointerStack = stack(.framePointers, of: crash, in: report, &problems)
        crash.dwarfStack = stack(.dwarf, of: crash, in: report, &problems)
        var choice = lg_stack_choice()
        if unsafe lg_reader_stack_choice(handle, &choice) == LG_OK, choice.disagree != 0 {
            crash.stackDisagreement = string(&choice.reason).nonEmpty
        }
        crash.stackMemory = memory(0, "stack memory", &problems)
        crash.codeMemory = memory(1, "code memory", &problems)
        addSurroundings(to: &crash, of: report, includingMemory: includingMemory, &problems)
        return crash
    }

    private func stack(_ method: Stack.Method, of crash: Crash, in report: RunReport, _ problems: inout Problems) -> Stack? {
        let stage = method == .dwarf ? LG_STAGE_DWARF : LG_STAGE_FRAMES
        let part = "\(method.rawValue) stack"
        var info = lg_stack_info()
        guard problems.isUsable(unsafe lg_reader_stack(handle, stage, &info), part) else { return nil }
        let addresses = problems.list(part, limit: info.stored) { index, address in
            unsafe lg_reader_frame(handle, stage, index, &address)
        } as: { Address($0) }
        // A breakpoint of x86 is left behind by the program counter.
        let isPastBreakpoint = crash.kind == "trap.breakpoint" && crash.registers?.contains { $0.name == "rip" } == true
        return Stack(&info, addresses, in: report, isTopExact: !isPastBreakpoint)
    }

    private func memory(_ which: UInt32, _ part: String, _ problems: inout Problems) -> Crash.Memory? {
        var bytes = [UInt8](repeating: 0, count: 512)
        var start: UInt64 = 0
        var size = 0
        let status = unsafe lg_reader_bytes(handle, which, &bytes, &start, &size)
        guard problems.isUsable(status, part), size > 0 else { return nil }
        return .init(start: Address(start), bytes: hex(bytes.prefix(size)))
    }
}

// MARK: - From C values

extension Stack {
    init(_ info: inout lg_stack_info, _ addresses: [Address], in report: RunReport, isTopExact: Bool = true) {
        self.init(
            method: info.method == LG_STAGE_DWARF ? .dwarf : info.method == LG_STAGE_FRAMES ? .framePointers : .unknown,
            frames: addresses.enumerated().map { index, address in report.frame(at: address, isExact: index == 0 && isTopExact) },
            innermost: Int(info.first),
            omitted: info.total > UInt64(info.stored) ? info.total - UInt64(info.stored) : 0,
            isTruncated: info.truncated != 0,
            reason: string(&info.reason).nonEmpty)
        total = info.total
        assumedFrames = info.assumed == 0 ? nil : info.assumed
    }
}

extension Crash {
    init(_ info: inout lg_crash_info) {
        signal = RunSignal(info.signal)
        code = info.code
        codeName = RunSignal(info.signal).codeName(info.code)
        kind = CLibrary.kindName(info.kind)
        address = info.has_address != 0 ? Address(info.address) : nil
        programCounter = Address(info.pc)
        stackPointer = Address(info.sp)
        framePointer = Address(info.fp)
        trap = info.trap.nonZero
        error = info.error.nonZero
        threadID = info.tid
        threadName = string(&info.thread_name).nonEmpty
        stackLow = info.stack_low.nonZero.map(Address.init)
        stackHigh = info.stack_high.nonZero.map(Address.init)
        senderProcessID = info.sender_pid == 0 ? nil : info.sender_pid
        senderUserID = info.sender_pid == 0 ? nil : info.sender_uid
        syscall = info.syscall_number < 0 || info.kind != LG_CRASH_SYSCALL ? nil : info.syscall_number
        time = info.wall_ns.nonZero.map(Timestamp.init(nanoseconds:))
        monotonicNanoseconds = info.monotonic_ns
        sequence = info.sequence
        isHandled = info.handled != 0
        isSiginfoLost = info.siginfo_lost != 0 ? true : nil
        cutStacks = info.stacks_cut > 0 ? info.stacks_cut : nil
        isBrief = info.brief != 0 ? true : nil
        within = info.within == 0 ? nil : info.within
        isExiting = info.exiting != 0 ? true : nil
        isOfAnyThread = info.any_thread != 0 ? true : nil
        stages = (0..<32).filter { info.stages >> $0 & 1 == 1 }.compactMap { Stage(lg_stage(rawValue: UInt32($0))) }
    }
}

extension Crash.Stage {
    fileprivate init?(_ stage: lg_stage) {
        switch stage {
        case LG_STAGE_HEADER: self = .header
        case LG_STAGE_CONTEXT: self = .context
        case LG_STAGE_FRAMES: self = .frames
        case LG_STAGE_DWARF: self = .dwarf
        case LG_STAGE_MESSAGES: self = .messages
        case LG_STAGE_THREADS: self = .threads
        case LG_STAGE_PROCESS: self = .process
        case LG_STAGE_DONE: self = .done
        default: return nil
        }
    }
}

extension Crash.Note {
    init(_ note: lg_note) {
        kind = note.kind == LG_NOTE_RECRASH ? .recrash : .alsoCrashed
        signal = RunSignal(note.signal)
        threadID = note.tid
        stage = Crash.Stage(note.stage)
        programCounter = Address(note.pc)
    }
}
