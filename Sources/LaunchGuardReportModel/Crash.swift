/// The record of a crash.
public struct Crash: Codable, Hashable, Sendable {
    public var signal: RunSignal
    /// The `si_code`, and its name when it has one.
    public var code: Int32
    public var codeName: String?
    /// For example "fault.null_write".
    public var kind: String
    /// What happened, as a noun: the kind in words; nil: the signal says it.
    public var what: String?
    /// A finer kind that follows only from the symbols of the crashed frame, for example
    /// "trap.swift.overflow"; known once the frames have symbols.
    public var reason: String?
    /// The messages of libc, of the Swift runtime or of a C++ exception.
    public var messages: [Message]?
    /// The reason for a trap in the words of the Swift compiler, for example "Index out of range";
    /// known once the frames have symbols, and only where there is no message.
    public var message: String?
    /// The faulting address; nil when there is none.
    public var address: Address?
    /// The mapping that holds the faulting address, and the place of the address in words, for
    /// example "in no mapping, 12 bytes after libfoo.so".
    public var addressMapping: Mapping?
    public var addressPlace: String?
    public var programCounter: Address
    public var stackPointer: Address
    public var framePointer: Address
    /// Trap number and page fault error code of the processor, on x86-64.
    public var trap: UInt64?
    public var error: UInt64?
    public var threadID: Int32
    public var threadName: String?
    /// Bounds of the thread's stack.
    public var stackLow: Address?
    public var stackHigh: Address?
    /// The sender of the signal, if it was sent.
    public var senderProcessID: Int32?
    public var senderUserID: UInt32?
    /// The system call that seccomp refused.
    public var syscall: Int32?
    public var time: Timestamp?
    public var monotonicNanoseconds: UInt64
    /// 1 for the first crash of the run.
    public var sequence: UInt32
    /// Whether the program survived the crash in an earlier handler.
    public var isHandled: Bool
    /// True: the program took `SA_SIGINFO` from the handler, so that code, address and sender are
    /// not known.
    public var isSiginfoLost: Bool?
    /// The number of stretches of stack memory that are shorter than they should be, for lack of
    /// room; nil: none.
    public var cutStacks: UInt32?
    /// The committed stages of the record.
    public var stages: [Stage]
    public var registers: [Register]?
    public var framePointerStack: Stack?
    /// Where the two walks have different callers: why `stack` is the one that is shown. nil: the
    /// walks agree. The C function is `lg_reader_stack_choice`.
    public var stackDisagreement: String?
    public var dwarfStack: Stack?
    /// The handler's walk by unwind tables, where `dwarfStack` is one that the tool made again.
    public var storedStack: Stack?
    /// Chains of callers that wait for functions of the stack by `await`, as far as memory tells;
    /// and the number of those that found no room in the record. ``asyncCallers`` has those that
    /// symbols confirm.
    public var asyncChains: [AsyncChain]?
    public var asyncChainsOmitted: UInt32?
    /// Words of the stack memory that point into code, where no walk of the stack came to its end:
    /// each may be the return address of a caller, or of a call that is long over.
    public var possibleFrames: [Frame]?
    /// The other threads, as far as they are in the record, and their number.
    public var threads: [ThreadState]?
    public var threadCounts: ThreadCounts?
    /// CPU time of the crashed thread since it began; nil: not known.
    public var cpuNanoseconds: UInt64?
    /// Bytes from the stack pointer up, and around the program counter.
    public var stackMemory: Memory?
    public var codeMemory: Memory?
    /// Stretches of stack memory, that of the crashed thread first.
    public var memory: [MemoryChunk]?
    public var memoryMap: MemoryMap?
    /// Figures of the process and of the system by name; unknown ones are left out.
    public var resources: [String: Resource]?
    /// Other events while the record was written.
    public var notes: [Note]?
    /// True: the crash came while another crash was with an earlier handler of the program, and is
    /// in a brief record: registers and a walk by frame pointers, and nothing of the surroundings.
    public var isBrief: Bool?
    /// `sequence` of the crash in whose earlier handler this one happened, on the same thread; nil:
    /// in no handler.
    public var within: UInt32?
    /// True: the process had passed through `exit()` before the crash.
    public var isExiting: Bool?
    /// True: the signal was sent to the process, and any thread may have got it: the thread and its
    /// stack say nothing about the cause.
    public var isOfAnyThread: Bool?

    /// A part of the record, in the order in which they are committed; `async` comes after `dwarf`,
    /// where chains of asynchronous callers were found.
    public enum Stage: String, Codable, Sendable, CaseIterable {
        case header, context, frames, dwarf, messages, threads, process, done, async
    }

    /// A register of the crashed thread.
    public struct Register: Codable, Hashable, Sendable {
        public var name: String
        public var value: Address
    }

    /// Bytes of the crashed process, as hexadecimal digits.
    public struct Memory: Codable, Hashable, Sendable {
        public var start: Address
        public var bytes: String
    }

    /// A stretch of stack memory.
    public struct MemoryChunk: Codable, Hashable, Sendable {
        /// The thread of the stack.
        public var threadID: Int32
        public var start: Address
        public var size: UInt32
        /// The bytes as hexadecimal digits, where they were asked for: they are many, and hold the
        /// program's data.
        public var bytes: String?
    }

    /// A crash of the handler, or of another thread, while the record was written.
    public struct Note: Codable, Hashable, Sendable {
        public var kind: Kind
        public var signal: RunSignal
        public var threadID: Int32
        /// Where the handler was.
        public var stage: Stage?
        public var programCounter: Address

        public enum Kind: String, Codable, Sendable {
            case recrash
            case alsoCrashed = "also-crashed"
        }
    }

    /// Whether the record is no crash but a dump of all threads, requested by SIGQUIT.
    public var isRequestedDump: Bool { signal.number == 3 }

    /// The stack to show: the DWARF walk, unless it broke off with fewer frames than the
    /// frame-pointer walk.
    public var stack: Stack? {
        guard let dwarfStack, !dwarfStack.frames.isEmpty else { return framePointerStack }
        guard let framePointerStack else { return dwarfStack }
        return dwarfStack.isTruncated && dwarfStack.total < framePointerStack.total ? framePointerStack : dwarfStack
    }
}
