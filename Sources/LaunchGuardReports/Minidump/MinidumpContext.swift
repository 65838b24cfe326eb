/// The processor of a run, as far as minidumps know it.
enum MinidumpProcessor {
    case x86_64, arm64

    /// By the names of its registers, or by what `uname()` said.
    init?(_ report: RunReport) {
        let crashes = [report.crash, report.recordedCrash].compactMap(\.self)
        let threads = crashes.flatMap { $0.threads ?? [] } + (report.snapshots ?? []).flatMap { $0.threads ?? [] }
        let registers = crashes.compactMap(\.registers) + threads.compactMap(\.registers)
        let names = registers.lazy.compactMap { $0.contains { $0.name == "rip" } ? "x86_64" : $0.contains { $0.name == "x0" } ? "aarch64" : nil }
        switch names.first ?? report.system?.hardware {
        case "x86_64": self = .x86_64
        case "aarch64": self = .arm64
        default: return nil
        }
    }

    /// PROCESSOR_ARCHITECTURE_AMD64, and MD_CPU_ARCHITECTURE_ARM64_OLD of Breakpad, whose context
    /// is below.
    var architecture: UInt16 { self == .x86_64 ? 9 : 0x8003 }
}

/// The known registers of a thread. For a thread that did not answer, the kernel may have reported
/// the first two.
struct MinidumpRegisters {
    private var values: [String: UInt64]

    init(_ registers: [Crash.Register]?, programCounter: Address?, stackPointer: Address?, framePointer: Address? = nil, _ processor: MinidumpProcessor) {
        values = Dictionary((registers ?? []).map { ($0.name, $0.value.value) }) { first, _ in first }
        guard values.isEmpty else { return }
        let names = processor == .x86_64 ? ["rip", "rsp", "rbp"] : ["pc", "sp", "x29"]
        for (name, address) in zip(names, [programCounter, stackPointer, framePointer]) { values[name] = address?.value }
    }

    /// The context of the thread; nil: nothing is known.
    func context(_ processor: MinidumpProcessor) -> MinidumpBytes? {
        processor == .x86_64 ? amd64 : arm64
    }

    private func add(_ names: some Sequence<String>, to part: inout MinidumpBytes) {
        for name in names { part.add(values[name] ?? 0) }
    }

    /// CONTEXT of winnt.h for x86-64, 1232 bytes. The record has no segment registers and no
    /// floating point: their flags are not set, and the selectors of CONTEXT_CONTROL are 0.
    private var amd64: MinidumpBytes? {
        let integers = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"] + (8...15).map { "r\($0)" }
        guard values["rip"] != nil || values["rsp"] != nil else { return nil }
        var flags: UInt32 = 0x10_0001  // CONTEXT_AMD64 with CONTEXT_CONTROL
        if values["rbp"] != nil { flags |= 2 }  // CONTEXT_INTEGER
        var part = MinidumpBytes()
        part.add(zeros: 6 * 8)  // homes of parameters
        part.add(flags)
        part.add(zeros: 4 + 6 * 2)  // MXCSR, segments
        part.add(UInt32(truncatingIfNeeded: values["eflags"] ?? 0))
        part.add(zeros: 6 * 8)  // debug registers
        add(integers + ["rip"], to: &part)
        part.add(zeros: 512 + 26 * 16 + 6 * 8)  // floating point, vectors, traces of branches
        return part
    }

    /// MDRawContextARM64_Old of Breakpad, 796 bytes: the one that Breakpad writes on Linux, and
    /// that lldb reads.
    private var arm64: MinidumpBytes? {
        guard values["pc"] != nil || values["sp"] != nil else { return nil }
        var part = MinidumpBytes()
        part.add(UInt64(0x8000_0002))  // MD_CONTEXT_ARM64_INTEGER_OLD: all but floating point
        add((0...30).map { "x\($0)" } + ["sp", "pc"], to: &part)
        part.add(UInt32(truncatingIfNeeded: values["pstate"] ?? 0))
        part.add(zeros: 2 * 4 + 32 * 16)  // floating point
        return part
    }
}
