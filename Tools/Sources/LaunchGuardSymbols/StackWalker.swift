internal import CStackWalk
internal import FoundationEssentials
internal import LaunchGuardPlatform
internal import LaunchGuardReportModel

/// Walks the stacks of run files again, over the stored registers and stack bytes.
///
/// Files and stacks may be an attacker's, and libdw was not written for that, so that this is
/// called in a process of its own only.
package enum StackWalker {
    /// The stacks that are walked.
    package enum Extent: String, Sendable {
        case all
        /// That of a crashed thread whose place is not sure: what a line about a run needs.
        case place
    }

    /// What the process has to say of a file.
    struct Answer: Codable {
        var walks: [Walk] = []
        /// Why there is no walk.
        var problem: String?
    }

    /// One walk.
    struct Walk: Codable {
        /// `sequence` of the crash.
        var crash: UInt32
        var threadID: Int32
        var stack: Stack
    }

    /// Why a walk ends where code without unwind tables has no frame of its own.
    static let contradiction = "no unwind information for the next frame, and the frame pointer is another function's"

    /// The arguments for `answer(to:)`.
    static func arguments(for paths: [String], _ extent: Extent, _ debugDirectories: [String]) -> [String] {
        [extent.rawValue, "\(paths.count)"] + paths + debugDirectories
    }

    /// The answers that the process wrote; nil: these are none.
    static func answers(from text: [UInt8]) -> [Answer]? { try? JSONDecoder().decode([Answer].self, from: Data(text)) }

    /// The answers for run files as JSON; nil: the arguments are none of `arguments(for:)`. Folders
    /// are as of `ModuleFinder`.
    package static func answer(to arguments: [String]) -> [UInt8]? {
        #if os(Linux)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        var seconds = rlimit(rlim_cur: 20, rlim_max: 20)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &seconds)
        #endif
        guard arguments.count > 1, let extent = Extent(rawValue: arguments[0]), let count = Int(arguments[1]), count >= 0 else { return nil }
        let finder = ModuleFinder(debugDirectories: Array(arguments.dropFirst(2 + count)), server: .find())
        let cache = SymbolCache()
        let answers = arguments.dropFirst(2).prefix(count).map { answer(for: $0, extent) { cache.files(of: $0, at: $1, finder.files) } }
        return (try? JSONEncoder().encode(answers)).map(Array.init)
    }

    private static func answer(for path: String, _ extent: Extent, _ files: @escaping (RunModule, [String]) -> ModuleFiles) -> Answer {
        var answer = Answer()
        guard let report = try? Reader(path: path).run(includingMemory: true) else {
            answer.problem = "the file cannot be read"
            return answer
        }
        if let session = WalkSession(report, files) {
            defer { session.end() }
            for crash in report.crashes(extent) {
                for thread in crash.walkedThreads(extent) {
                    guard let stack = session.walk(thread, crash) else { continue }
                    answer.walks.append(Walk(crash: crash.sequence, threadID: thread.id, stack: stack))
                }
            }
        } else {
            answer.problem = "libdw.so.1 cannot be loaded; install it (package libdw1 or elfutils-libs)"
        }
        return answer
    }
}

/// A thread whose stack leaves a doubt, with what a walk needs.
private struct WalkedThread {
    var id: Int32
    var registers: [Crash.Register]
    var isWild = false
}

extension Stack {
    /// Whether another walk may find more. Of a stack with a gap too few bytes are stored.
    var leavesDoubt: Bool { omitted == 0 && (isTruncated || assumedFrames != nil || method != .dwarf) }
}

extension RunReport {
    /// Whether a stack leaves a doubt that stored bytes may remove.
    func hasDoubts(_ extent: StackWalker.Extent) -> Bool { crashes(extent).contains { !$0.walkedThreads(extent).isEmpty } }

    fileprivate func crashes(_ extent: StackWalker.Extent) -> [Crash] { extent == .all ? crashes : [crash].compactMap(\.self) }
}

extension Crash {
    fileprivate func walkedThreads(_ extent: StackWalker.Extent) -> [WalkedThread] {
        let stored = Set((memory ?? []).map(\.threadID))
        var threads: [WalkedThread] = []
        if let registers, stored.contains(threadID), stack?.leavesDoubt ?? true {
            threads.append(WalkedThread(id: threadID, registers: registers, isWild: address == programCounter))
        }
        guard extent == .all else { return threads }
        for thread in self.threads ?? [] where stored.contains(thread.threadID) && thread.stack?.leavesDoubt == true {
            if let registers = thread.registers { threads.append(WalkedThread(id: thread.threadID, registers: registers)) }
        }
        return threads
    }
}

/// The walks of one report. Files of modules are looked for when a walk comes to them.
@safe
private struct WalkSession {
    private let report: RunReport
    private let find: (RunModule, [String]) -> ModuleFiles
    private let walk: OpaquePointer
    private let modules: [stack_walk_module]

    init?(_ report: RunReport, _ find: @escaping (RunModule, [String]) -> ModuleFiles) {
        guard let walk = unsafe stack_walk_begin() else { return nil }
        unsafe self.walk = walk
        self.report = report
        self.find = find
        modules = (report.modules ?? []).map { stack_walk_module(start: $0.start.value, end: $0.end.value, bias: $0.bias.value) }
    }

    func end() { unsafe stack_walk_end(walk) }

    func walk(_ thread: WalkedThread, _ crash: Crash) -> Stack? {
        guard var registers = Self.registers(of: thread) else { return nil }
        let chunks = (crash.memory ?? []).compactMap { chunk in chunk.bytes.flatMap(Self.bytes).map { (chunk.start.value, $0) } }
        // One block holds all bytes, in the order of the chunks.
        let bytes = chunks.flatMap(\.1)
        let result = UnsafeMutablePointer<stack_walk_result>.allocate(capacity: 1)
        defer { unsafe result.deallocate() }
        // Each round adds the files of one module.
        for _ in 0...modules.count {
            unsafe bytes.withUnsafeBufferPointer { bytes in
                var memory: [stack_walk_memory] = unsafe []
                var offset = 0
                for (start, part) in chunks {
                    unsafe memory.append(stack_walk_memory(start: start, size: UInt64(part.count), bytes: bytes.baseAddress.map { unsafe $0 + offset }))
                    offset += part.count
                }
                unsafe stack_walk_thread(walk, modules, modules.count, memory, memory.count, &registers, result)
            }
            guard unsafe result.pointee.end == STACK_WALK_NO_FILE else { break }
            guard add(unsafe result.pointee.wanted) else { return nil }
        }
        return unsafe stack(from: result, registers.is_aarch64)
    }

    private static func bytes(_ digits: String) -> [UInt8]? {
        guard digits.utf8.count % 2 == 0 else { return nil }
        let digits = Array(digits.utf8)
        func value(_ digit: UInt8) -> UInt8? { Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) } }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func registers(of thread: WalkedThread) -> stack_walk_registers? {
        let values = Dictionary(thread.registers.map { ($0.name, $0.value.value) }) { first, _ in first }
        // By their numbers in DWARF.
        let x86 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"] + (8...15).map { "r\($0)" }
        let arm = (0...30).map { "x\($0)" } + ["sp"]
        let isARM = values["pc"] != nil
        var registers = stack_walk_registers()
        guard let pc = values["rip"] ?? values["pc"] else { return nil }
        registers.pc = pc
        registers.is_aarch64 = isARM
        registers.is_pc_wild = thread.isWild
        unsafe withUnsafeMutableBytes(of: &registers.values) { bytes in
            let places = unsafe bytes.assumingMemoryBound(to: UInt64.self)
            for (number, name) in (isARM ? arm : x86).enumerated() { unsafe places[number] = values[name] ?? 0 }
        }
        return registers
    }

    /// Adds a module with the files of this machine that are its own.
    private func add(_ start: UInt64) -> Bool {
        guard let module = report.modules?.first(where: { $0.start.value == start }), !(unsafe stack_walk_has(walk, start)) else { return false }
        var place = stack_walk_module(start: start, end: module.end.value, bias: module.bias.value)
        let places = module.path.contains("/") ? report.places(of: module) : []
        let files = places.isEmpty ? ModuleFiles() : find(module, places)
        var names = unsafe ([files.program].compactMap(\.self) + files.names.filter { $0 != files.program }).map { unsafe UnsafePointer(strdup($0)) }
        defer { unsafe names.forEach { unsafe free(UnsafeMutableRawPointer(mutating: $0)) } }
        return unsafe stack_walk_add(walk, &place, &names, names.count)
    }

    private func stack(from result: UnsafePointer<stack_walk_result>, _ isARM: Bool) -> Stack? {
        let count = unsafe Int(result.pointee.count)
        var walked: [stack_walk_frame] = []
        unsafe withUnsafeBytes(of: result.pointee.frames) { bytes in
            walked = unsafe Array(bytes.assumingMemoryBound(to: stack_walk_frame.self).prefix(count))
        }
        guard !walked.isEmpty else { return nil }
        var reason: String? =
            switch unsafe result.pointee.end {
            case STACK_WALK_COMPLETE: nil
            case STACK_WALK_NO_BYTES: "the stored bytes of the stack end here"
            case STACK_WALK_LOOP: "the chain of frames loops"
            case STACK_WALK_CONTRADICTED: StackWalker.contradiction
            case STACK_WALK_LIMIT: "the limit of frames was reached"
            default: "no unwind information for the next frame"
            }
        if let wrong = walked.firstIndex(where: { isContradicted($0, isARM) }) {
            walked.removeSubrange((wrong + 1)...)
            walked[wrong].is_assumed = false
            reason = StackWalker.contradiction
        }
        let frames = walked.map { frame in
            let lookup = frame.is_exact ? frame.pc : frame.pc &- 1
            let module = report.module(at: Address(lookup))
            return Frame(
                address: Address(frame.pc), lookup: Address(lookup), module: module?.path, fileAddress: module.map { Address(lookup &- $0.bias.value) },
                isSignalHandlerCall: frame.is_signal ? true : nil)
        }
        var stack = Stack(method: .dwarf, frames: frames, isTruncated: reason != nil, reason: reason)
        let assumed = walked.count { $0.is_assumed }
        stack.assumedFrames = assumed == 0 ? nil : UInt32(assumed)
        let tables = unsafe [(".eh_frame", result.pointee.used_eh_frame), (".debug_frame", result.pointee.used_debug_frame)].filter(\.1).map(\.0)
        stack.walkedAgainWith = tables.isEmpty ? "frame pointers" : tables.joined(separator: " and ")
        return stack
    }

    /// Whether a frame was passed by the frame pointer of another function, by the symbols: the
    /// caller called another one, or its own function sets none up.
    private func isContradicted(_ frame: stack_walk_frame, _ isARM: Bool) -> Bool {
        let lookup = frame.is_exact ? frame.pc : frame.pc &- 1
        guard frame.is_assumed, let module = report.module(at: Address(lookup)) else { return false }
        for path in find(module, report.places(of: module)).names {
            guard let file = ELFFile(path: path) else { continue }
            let address = lookup &- module.bias.value
            guard let function = SymbolTables(of: file, at: [address]).functions[address] else { continue }
            if frame.function != 0 { return function.start != frame.function &- module.bias.value }
            return unsafe !stack_walk_has_frame(walk, function.start &+ module.bias.value, isARM)
        }
        return false
    }
}
