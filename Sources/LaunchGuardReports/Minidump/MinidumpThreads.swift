/// A thread of a minidump.
struct MinidumpThread {
    var id: Int32
    var name: String?
    var stackPointer: Address?
    var context: MinidumpBytes?

    init(_ crash: Crash, _ processor: MinidumpProcessor) {
        (id, name, stackPointer) = (crash.threadID, crash.threadName, crash.stackPointer)
        let registers = MinidumpRegisters(
            crash.registers, programCounter: crash.programCounter, stackPointer: crash.stackPointer, framePointer: crash.framePointer, processor)
        context = registers.context(processor)
    }

    init(_ state: ThreadState, _ processor: MinidumpProcessor) {
        (id, name, stackPointer) = (state.threadID, state.name, state.stackPointer)
        let registers = MinidumpRegisters(state.registers, programCounter: state.programCounter, stackPointer: state.stackPointer, processor)
        context = registers.context(processor)
    }

    /// All threads of a record, each once: first the one that crashed, or hung.
    static func all(of report: RunReport, _ processor: MinidumpProcessor) -> [MinidumpThread] {
        let crashes = [report.crash, report.recordedCrash].compactMap(\.self)
        let states = crashes.isEmpty ? report.lastSnapshot?.threads ?? [] : report.recordedCrash?.threads ?? []
        var known: Set<Int32> = []
        return (crashes.map { MinidumpThread($0, processor) } + states.map { MinidumpThread($0, processor) }).filter { known.insert($0.id).inserted }
    }
}

extension RunReport {
    /// The stacks that were taken last while the program lived.
    var lastSnapshot: Snapshot? {
        snapshots?.filter { $0.threads?.isEmpty == false }.max { $0.takenNanoseconds < $1.takenNanoseconds }
    }
}

extension MinidumpFile {
    /// The memory, the threads with their names, and the exception.
    mutating func addThreads(_ threads: [MinidumpThread], _ memory: MinidumpMemory, _ crash: Crash?) {
        let places = memory.stretches.map { stretch in
            var part = MinidumpBytes()
            part.add(bytes: stretch.bytes)
            return append(part)
        }
        var list = MinidumpBytes(), names = MinidumpBytes()
        list.add(UInt32(threads.count))
        let named = threads.filter { $0.name != nil }
        names.add(UInt32(named.count))
        for thread in named {
            names.add(thread.id)
            names.add(UInt64(append(thread.name ?? "")))
        }
        for thread in threads {
            let context = thread.context.map { append($0) } ?? MinidumpLocation()
            let stack = memory.stack(of: thread.id, at: thread.stackPointer)
            // MINIDUMP_THREAD
            list.add(thread.id)
            list.add(zeros: 3 * 4 + 8)  // suspend count, priorities, environment block
            list.add(stack.map { memory.stretches[$0].start } ?? thread.stackPointer?.value ?? 0)
            list.add(stack.map { places[$0] } ?? MinidumpLocation())
            list.add(context)
            if let crash, crash.threadID == thread.id { addException(crash, context) }
        }
        add(.threadList, list)
        add(.threadNames, names)
        var stretches = MinidumpBytes()
        stretches.add(UInt32(memory.stretches.count))
        for (stretch, place) in zip(memory.stretches, places) {
            stretches.add(stretch.start)
            stretches.add(place)
        }
        add(.memoryList, stretches)
    }

    /// MINIDUMP_EXCEPTION_STREAM, as Breakpad fills it on Linux: the signal is the code, and
    /// `si_code` stands in the flags.
    private mutating func addException(_ crash: Crash, _ context: MinidumpLocation) {
        var part = MinidumpBytes()
        part.add(crash.threadID)
        part.add(UInt32(0))
        part.add(crash.signal.number)
        part.add(crash.code)
        part.add(UInt64(0))  // no exception after it
        part.add(crash.address?.value ?? 0)
        part.add(zeros: 2 * 4 + 15 * 8)  // no parameters
        part.add(context)
        add(.exception, part)
    }
}
