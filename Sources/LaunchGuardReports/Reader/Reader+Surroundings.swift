// What a crash leaves beside the crashed thread: messages, the other threads, memory, figures, the
// last words.
internal import CLaunchGuard

extension Reader {
    /// Add all of it to a crash; what cannot be read becomes a problem.
    func addSurroundings(to crash: inout Crash, of report: RunReport, includingMemory: Bool, _ problems: inout Problems) {
        // A part that is not there although the record is complete was left out on purpose, or a
        // note says that it failed.
        problems.expectsAllStages = !crash.stages.contains(.done)
        defer { problems.expectsAllStages = true }
        crash.messages = messages(&problems)
        addProcess(to: &crash, &problems)
        addThreads(to: &crash, of: report, &problems)
        addMemory(to: &crash, of: report, includingBytes: includingMemory, &problems)
        if let address = crash.address, let map = crash.memoryMap {
            crash.addressMapping = map.mapping(at: address)
            crash.addressPlace = map.place(of: address)
        }
    }

    private func messages(_ problems: inout Problems) -> [Message]? {
        var result: [Message] = []
        var message = lg_message()
        for index in 0..<64 as Range<UInt32> {
            guard problems.isUsable(unsafe lg_reader_message(handle, index, &message), "messages") else { break }
            result.append(Message(&message))
        }
        return result.isEmpty ? nil : result
    }

    private func addProcess(to crash: inout Crash, _ problems: inout Problems) {
        var size = 0
        var isCut: UInt32 = 0
        guard problems.isUsable(unsafe lg_reader_map(handle, nil, 0, &size, &isCut), "process") else { return }
        var text = [CChar](repeating: 0, count: size + 1)
        guard problems.isUsable(unsafe lg_reader_map(handle, &text, text.count, &size, &isCut), "process") else { return }
        if size > 0 {
            let bytes = text.prefix(size).map { UInt8(bitPattern: $0) }
            crash.memoryMap = MemoryMap(text: String(decoding: bytes, as: UTF8.self), isCut: isCut != 0)
        }
        var resources: [String: Resource] = [:]
        var resource = lg_resource()
        var index: UInt32 = 0
        while index < 256, unsafe lg_reader_resource(handle, index, &resource) == LG_OK {
            index += 1
            guard resource.known != 0 else { continue }
            resources[string(&resource.name)] = Resource(value: resource.value == .max ? nil : resource.value, unit: string(&resource.unit))
        }
        crash.resources = resources.isEmpty ? nil : resources
    }

    private func addThreads(to crash: inout Crash, of report: RunReport, _ problems: inout Problems) {
        var info = lg_threads_info()
        guard problems.isUsable(unsafe lg_reader_threads(handle, &info), "other threads") else { return }
        let calls = ThreadCalls { thread, index, register in
            unsafe lg_reader_thread_register(self.handle, thread, index, &register)
        } stack: { thread, walk in
            unsafe lg_reader_thread_stack(self.handle, thread, &walk)
        } frame: { thread, index, address in
            unsafe lg_reader_thread_frame(self.handle, thread, index, &address)
        }
        var threads: [ThreadState] = []
        for index in 0..<info.stored {
            var thread = lg_thread_info()
            guard problems.isUsable(unsafe lg_reader_thread(handle, index, &thread), "other threads") else { continue }
            threads.append(state(index, &thread, calls, report, &problems))
        }
        crash.threads = threads.isEmpty ? nil : threads
        if threads.isEmpty, info.complete == 0 { _ = problems.isUsable(LG_ERR_INCOMPLETE, "other threads") }
        if info.complete != 0 {
            crash.cpuNanoseconds = info.crashed_cpu_ns.nonZero
            crash.threadCounts = ThreadCounts(
                listed: info.listed, captured: info.captured, masked: info.masked, silent: info.silent, omitted: info.omitted,
                listProblem: info.error == 0 ? nil : CLibrary.systemMessage(info.error), waitedNanoseconds: info.waited_ns)
        }
    }

    func state(
        _ index: UInt32, _ info: inout lg_thread_info, _ calls: ThreadCalls, _ report: RunReport, _ problems: inout Problems
    ) -> ThreadState {
        let thread = info.tid
        var state = ThreadState(threadID: thread, name: string(&info.name).nonEmpty, how: .init(info.how))
        state.state = info.state == 0 ? nil : String(UnicodeScalar(UInt8(bitPattern: info.state)))
        let blocked = (1...64 as ClosedRange<Int32>).filter { [mask = info.blocked] in mask >> UInt64($0 - 1) & 1 == 1 }.map(RunSignal.init)
        state.blockedSignals = blocked.isEmpty ? nil : blocked
        state.programCounter = info.pc.nonZero.map(Address.init)
        state.stackPointer = info.sp.nonZero.map(Address.init)
        state.stackLow = info.stack_low.nonZero.map(Address.init)
        state.stackHigh = info.stack_high.nonZero.map(Address.init)
        state.cpuNanoseconds = info.cpu_ns.nonZero
        let registers = problems.list("registers of thread \(thread)", limit: info.register_count) { number, register in
            calls.register(index, number, &register)
        } as: { Crash.Register(name: string(&$0.name), value: Address($0.value)) }
        state.registers = registers.isEmpty ? nil : registers
        var walk = lg_stack_info()
        let status = calls.stack(index, &walk)
        guard status != LG_ERR_INCOMPLETE, problems.isUsable(status, "stack of thread \(thread)") else { return state }
        let addresses = problems.list("stack of thread \(thread)", limit: walk.stored) { number, address in
            calls.frame(index, number, &address)
        } as: { Address($0) }
        state.stack = Stack(&walk, addresses, in: report)
        return state
    }

    private func addMemory(to crash: inout Crash, of report: RunReport, includingBytes: Bool, _ problems: inout Problems) {
        var chunks: [Crash.MemoryChunk] = []
        var own: (start: UInt64, bytes: [UInt8])?
        for index in 0..<65536 as Range<UInt32> {
            var info = lg_memory_info()
            guard problems.isUsable(unsafe lg_reader_memory(handle, index, &info), "stack memory") else { break }
            var chunk = Crash.MemoryChunk(threadID: info.tid, start: Address(info.start), size: info.size)
            if includingBytes || own == nil && info.tid == crash.threadID {
                var bytes = [UInt8](repeating: 0, count: Int(info.size))
                guard problems.isUsable(unsafe lg_reader_memory_bytes(handle, index, &bytes, bytes.count), "stack memory") else { break }
                if own == nil, info.tid == crash.threadID { own = (info.start, bytes) }
                if includingBytes { chunk.bytes = hex(bytes) }
            }
            chunks.append(chunk)
        }
        crash.memory = chunks.isEmpty ? nil : chunks
        let walks = [crash.framePointerStack, crash.dwarfStack].compactMap(\.self)
        guard let own, let map = crash.memoryMap, walks.allSatisfy(\.isTruncated) else { return }
        let candidates = StackScan.candidates(in: own.bytes, from: own.start, map: map, modules: report.modules ?? [])
        let known = Set(walks.flatMap { $0.frames.map(\.address) })
        let frames = candidates.filter { !known.contains($0) }.map { report.frame(at: $0, isExact: false) }
        crash.possibleFrames = frames.isEmpty ? nil : frames
    }

    /// The last bytes of standard error.
    func standardError(_ problems: inout Problems) -> StandardError? {
        var bytes = [UInt8](repeating: 0, count: 4032)
        var size = 0
        var total: UInt64 = 0
        guard problems.isUsable(unsafe lg_reader_stderr(handle, &bytes, &size, &total), "standard error") else { return nil }
        return StandardError(
            text: String(decoding: bytes.prefix(size), as: UTF8.self), totalBytes: total, omittedBytes: total - min(total, UInt64(size)))
    }
}

/// How the parts of a thread are read: of a crash, or of a snapshot. Each takes the number of the
/// thread first.
struct ThreadCalls {
    let register: (UInt32, UInt32, inout lg_register) -> lg_status
    let stack: (UInt32, inout lg_stack_info) -> lg_status
    let frame: (UInt32, UInt32, inout UInt64) -> lg_status

    init(
        register: @escaping (UInt32, UInt32, inout lg_register) -> lg_status, stack: @escaping (UInt32, inout lg_stack_info) -> lg_status,
        frame: @escaping (UInt32, UInt32, inout UInt64) -> lg_status
    ) {
        self.register = register
        self.stack = stack
        self.frame = frame
    }
}

extension Message {
    fileprivate init(_ message: inout lg_message) {
        let source: Source =
            switch message.source {
            case LG_MESSAGE_LIBC: .libc
            case LG_MESSAGE_SWIFT: .swift
            case LG_MESSAGE_CPP_TYPE: .cppType
            case LG_MESSAGE_CPP_WHAT: .cppWhat
            case LG_MESSAGE_GUARD: .guard
            default: Source(rawValue: "\(message.source.rawValue)")
            }
        // The compiler imports no array of more than 4096 elements: the text is behind the last
        // member that it knows.
        let size = Int(message.size)
        let start = (MemoryLayout<lg_message>.offset(of: \.size) ?? 0) + MemoryLayout<UInt32>.size
        let text = unsafe withUnsafeBytes(of: &message) { bytes in
            unsafe String(decoding: bytes.dropFirst(start).prefix(size), as: UTF8.self)
        }
        self.init(source: source, text: text, isCut: message.cut != 0)
    }
}

extension ThreadState.How {
    fileprivate init(_ how: lg_thread_how) {
        self =
            switch how {
            case LG_THREAD_CAPTURED: .captured
            case LG_THREAD_MASKED: .masked
            case LG_THREAD_SILENT: .silent
            default: Self(rawValue: "\(how.rawValue)")
            }
    }
}
