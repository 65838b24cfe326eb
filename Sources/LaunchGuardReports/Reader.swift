// With the other files Reader+… the only place of this library that names the C reader.
internal import CLaunchGuard

internal import LaunchGuardPlatform

/// An open run file or ledger, of a dead or a living process. It reads, and never disturbs the
/// writer.
///
/// One thread at a time may use it.
@safe
public final class Reader {
    public let path: String
    public let kind: Kind
    let handle: OpaquePointer

    /// What kind of file it is.
    public enum Kind: String, Codable, Sendable {
        case run, ledger
    }

    /// Open a regular file; a link is not followed. A byte of the path that is no part of UTF-8 is
    /// written as the character U+10FF00 plus the byte.
    public init(path: String) throws(ReportError) {
        var opened: OpaquePointer?
        let status = unsafe Path.withCString(path) { unsafe lg_reader_open($0, &opened) }
        guard status == LG_OK, let opened = unsafe opened else {
            throw ReportError(code: .init(rawValue: status.rawValue), errno: status == LG_ERR_SYSTEM ? errno : nil, path: path)
        }
        self.path = path
        unsafe handle = opened
        kind = unsafe lg_reader_kind(opened) == LG_FILE_LEDGER ? .ledger : .run
    }

    deinit {
        unsafe lg_reader_close(handle)
    }

    // MARK: - Run file

    /// Everything that the run file holds.
    ///
    /// - Parameter includingMemory: whether the bytes of the stacks are in the report too: they are
    ///   many, and they hold what the program worked on. Without them, redacted values are blanked
    ///   in the few bytes that each record has around its stack pointer.
    public func run(includingMemory: Bool = false) throws(ReportError) -> RunReport {
        var problems = Problems()
        var report = try parts(of: .all, includingMemory: includingMemory, &problems)
        report.fingerprint = report.verdict?.end == .running ? nil : fingerprint
        if !includingMemory { blankSecrets(in: &report) }
        do throws(ReportError) {
            report.breadcrumbs = try breadcrumbs(of: report)
            if report.breadcrumbs?.entries.contains(where: { $0.isDamaged == true }) == true { problems.add("ring log", LG_ERR_DAMAGED) }
        } catch {
            problems.add("ring log", lg_status(rawValue: error.code.rawValue))
        }
        report.problems = problems.found
        return report
    }

    /// What the run was and how it ended: without breadcrumbs, annotations, heartbeats, deadlines,
    /// standard error, the sites of guard events and the fingerprint, and without modules where no
    /// stack needs them. Whether these parts are there and within bounds is checked all the same.
    public func summary() throws(ReportError) -> RunReport {
        var problems = Problems()
        var report = try parts(of: .summary, includingMemory: false, &problems)
        _ = problems.isUsable(unsafe lg_reader_log_check(handle), "ring log")
        report.problems = problems.found
        return report
    }

    /// Nil: the identity cannot be read.
    package var fingerprint: String? { fingerprint(of: nil) }

    /// The same for the end that the ledger of the run's machine has, which may have seen more.
    /// C: `lg_reader_fingerprint_of()`.
    package func fingerprint(endedAs verdict: Verdict) -> String? {
        let end = (0..<UInt32(RunEnd.allCases.count + 1)).first { unsafe String(cString: lg_end_name(lg_end(rawValue: $0))) == verdict.end.rawValue }
        guard let end, let evidence = verdict.evidenceKind.flatMap(Evidence.allCases.firstIndex) else { return fingerprint }
        return fingerprint(
            of: lg_verdict(
                end: lg_end(rawValue: end), evidence: lg_evidence(rawValue: UInt32(evidence)), signal: verdict.signal?.number ?? 0, code: verdict.exitCode ?? 0,
                kind: lg_crash_kind(rawValue: 0), monotonic_ns: verdict.monotonicNanoseconds ?? 0))
    }

    private func fingerprint(of end: lg_verdict?) -> String? {
        var digits = [CChar](repeating: 0, count: 33)
        let status: lg_status
        if var end {
            status = unsafe lg_reader_fingerprint_of(handle, &end, &digits)
        } else {
            status = unsafe lg_reader_fingerprint(handle, &digits)
        }
        guard status == LG_OK else { return nil }
        return String(decoding: digits.prefix(32).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private enum Extent {
        case all, summary
    }

    /// All but the ring log.
    private func parts(of extent: Extent, includingMemory: Bool, _ problems: inout Problems) throws(ReportError) -> RunReport {
        guard kind == .run else { throw ReportError(code: .state, path: path) }
        var report = RunReport(path: path)
        var info = lg_run_info()
        if problems.isUsable(unsafe lg_reader_run(handle, &info), "identity") {
            report.identity = RunIdentity(&info)
            report.contexts = problems.list("contexts", limit: info.context_count) { index, context in
                unsafe lg_reader_run_context(handle, index, &context)
            } as: { RunContext(&$0) }
        }
        report.system = system(&problems)
        var verdict = lg_verdict()
        if problems.isUsable(unsafe lg_reader_verdict(handle, &verdict), "verdict") {
            report.verdict = Verdict(verdict)
        }
        var crashCount: UInt32 = 0
        let counted = unsafe lg_reader_crash_count(handle, &crashCount)
        let mayHaveCrash = counted != LG_OK || crashCount > 0
        let hasSnapshot = hasSnapshot
        let needsModules = extent == .all || mayHaveCrash || hasSnapshot
        let modules = problems.list("modules", limit: needsModules ? 65536 : 1) { index, module in
            unsafe lg_reader_module(handle, index, &module)
        } as: { RunModule(&$0) }
        report.modules = modules.isEmpty || !needsModules ? nil : modules
        _ = problems.isUsable(counted, "brief records")
        if mayHaveCrash { addCrashes(to: &report, crashCount, includingMemory: includingMemory, &problems) }
        let annotations = annotations(of: report, &problems)
        let standardError = standardError(&problems)
        if extent == .all {
            report.annotations = annotations
            report.standardError = standardError
            addPulse(to: &report, &problems)
        } else {
            var heart = lg_heart_info()
            _ = problems.isUsable(unsafe lg_reader_heart(handle, 0, &heart), "pulse")
        }
        if hasSnapshot { addSnapshots(to: &report, &problems) }
        report.guards = guards(of: report, withSites: extent == .all, &problems)
        report.guards?.redact(redaction())
        return report
    }

    private var hasSnapshot: Bool {
        var info = lg_snapshot_info()
        return [LG_SNAPSHOT_HANG, LG_SNAPSHOT_DEADLINE, LG_SNAPSHOT_MEMORY].contains { unsafe lg_reader_snapshot(handle, $0, &info) != LG_ERR_NOT_FOUND }
    }

    /// Whether the process of the run is alive now; false when the file does not show it.
    public var isAlive: Bool {
        var info = lg_run_info()
        return unsafe lg_reader_run(handle, &info) == LG_OK && info.alive != 0
    }

    /// The process of the run: its number, its start in clock ticks since boot, and when the run
    /// began, on the monotonic clock; nil when the file does not show it, or is not yet that of the
    /// run in its name.
    package var process: (id: Int32, startTicks: UInt64, moment: UInt64)? {
        var info = lg_run_info()
        guard unsafe lg_reader_run(handle, &info) == LG_OK, path.hasSuffix(string(&info.uuid) + ".lgrun") else { return nil }
        return (info.pid, info.start_ticks, info.monotonic_ns)
    }

    /// A new snapshot of the ring log, without what is redacted; `run` gives the entries their
    /// times.
    public func breadcrumbs(of run: RunReport) throws(ReportError) -> Breadcrumbs {
        var entries: [Breadcrumb] = []
        var result = try breadcrumbs(of: run) { entries.append($0) }
        result.entries = entries
        return result
    }

    /// The same, each entry handed on and not kept.
    package func breadcrumbs(of run: RunReport, _ take: (consuming Breadcrumb) -> Void) throws(ReportError) -> Breadcrumbs {
        var info = lg_log_info()
        let status = unsafe lg_reader_log(handle, &info)
        guard status == LG_OK else {
            throw ReportError(code: .init(rawValue: status.rawValue), errno: status == LG_ERR_SYSTEM ? errno : nil, path: path)
        }
        // Asked behind the snapshot, which holds all that it is applied to.
        let redaction = redaction()
        let result = Breadcrumbs(
            entries: [], torn: info.torn, overwrittenBytes: info.overwritten_bytes, overwrittenEntries: info.overwritten_entries,
            unknown: info.unknown.nonZero)
        var entry = lg_log_entry(), field = lg_log_field()
        for index in 0..<info.entries where unsafe lg_reader_log_entry(handle, index, &entry) == LG_OK {
            var breadcrumb = Breadcrumb(&entry, time: run.time(monotonic: entry.monotonic_ns))
            if entry.field_count > 0 {
                var fields: [Breadcrumb.Field] = []
                for number in 0..<entry.field_count where unsafe lg_reader_log_field(handle, index, number, &field) == LG_OK {
                    fields.append(Breadcrumb.Field(&field))
                }
                breadcrumb.fields = fields.isEmpty ? nil : fields
                breadcrumb.redact(redaction)
            }
            take(breadcrumb)
        }
        return result
    }

    /// The crash that counts, which stays selected, and all others.
    private func addCrashes(to report: inout RunReport, _ count: UInt32, includingMemory: Bool, _ problems: inout Problems) {
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

    // MARK: - Verification

    /// One block of a file, checked.
    public struct Block: Codable, Hashable, Sendable {
        public var name: String
        /// "ok", "incomplete" or "damaged".
        public var status: String
        /// One line for a person.
        public var detail: String
    }

    /// Check the bounds and checksums of every block; the result is whole when no block is damaged.
    public func verify() -> (isWhole: Bool, blocks: [Block]) {
        let blocks = BlockList()
        let status = withExtendedLifetime(blocks) {
            unsafe lg_reader_verify(
                handle,
                { name, status, detail, user in
                    guard let user = unsafe user else { return }
                    let list = unsafe Unmanaged<BlockList>.fromOpaque(user).takeUnretainedValue()
                    unsafe list.blocks.append(
                        Block(
                            name: name.map { unsafe String(cString: $0) } ?? "",
                            status: CLibrary.statusName(status.rawValue),
                            detail: detail.map { unsafe String(cString: $0) } ?? ""))
                },
                Unmanaged.passUnretained(blocks).toOpaque())
        }
        return (status == LG_OK, blocks.blocks)
    }

    private final class BlockList {
        var blocks: [Block] = []
    }
}

// MARK: - Names and messages of the C library

extension Reader {
    /// Version of the C library in use, for example "0.1.0". C: `lg_version()`.
    public static var libraryVersion: String { unsafe String(cString: lg_version()) }
}

/// Names and messages of the C library.
enum CLibrary {
    static func statusName(_ status: UInt32) -> String {
        unsafe String(cString: lg_status_name(lg_status(rawValue: status)))
    }

    static func statusMessage(_ status: UInt32) -> String {
        unsafe String(cString: lg_status_message(lg_status(rawValue: status)))
    }

    static func systemMessage(_ number: Int32) -> String {
        unsafe String(cString: strerror(number))
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

extension RunReport {
    /// A frame with its module. Callers' addresses are return addresses: the byte before them is
    /// looked up.
    func frame(at address: Address, isExact: Bool) -> Frame {
        let lookup = Address(isExact ? address.value : address.value &- 1)
        guard let module = module(at: lookup) else { return Frame(address: address, lookup: lookup) }
        return Frame(
            address: address, lookup: lookup, module: module.path,
            fileAddress: Address(lookup.value &- module.bias.value))
    }
}

extension RunIdentity {
    fileprivate init(_ info: inout lg_run_info) {
        uuid = string(&info.uuid)
        ordinal = info.ordinal
        appID = string(&info.app_id)
        appVersion = string(&info.app_version).nonEmpty
        executable = string(&info.executable).nonEmpty
        buildID = string(&info.build_id).nonEmpty
        bootID = string(&info.boot_id).nonEmpty
        processID = info.pid
        userID = info.uid
        started = info.wall_ns.nonZero.map(Timestamp.init(nanoseconds:))
        monotonicNanoseconds = info.monotonic_ns
        isStartComplete = info.started != 0
        isAlive = info.alive != 0
        isSecondary = info.secondary != 0
        healedPages = info.healed_pages
        if info.term_signal != 0 {
            termination = Termination(
                signal: RunSignal(info.term_signal), senderProcessID: info.term_pid == 0 ? nil : info.term_pid,
                senderUserID: info.term_pid == 0 ? nil : info.term_uid, monotonicNanoseconds: info.term_ns,
                isKept: info.term_kept != 0 ? true : nil, aliveNanoseconds: info.term_alive_ns > info.term_ns ? info.term_alive_ns : nil)
        }
        if info.end_announced != 0 {
            announcement = Announcement(kind: info.end_announced == 2 ? .restart : .termination, monotonicNanoseconds: info.announced_ns)
        }
        witness = info.witnessed != 0 ? Witness(waitStatus: info.wait_status) : nil
        hangSinceNanoseconds = info.hang_ns.nonZero
        if info.oom_known != 0 { memoryKills = MemoryKills(count: info.oom_kills, cgroup: info.oom_cgroup) }
        if info.cpu_near_ns != 0 {
            cpuLimit = CPULimit(usedNanoseconds: info.cpu_used_ns, limitSeconds: info.cpu_limit_s, monotonicNanoseconds: info.cpu_near_ns)
        }
        if info.memory_near_ns != 0 {
            memoryPressure = MemoryPressure(usedBytes: info.memory_used, limitBytes: info.memory_limit, monotonicNanoseconds: info.memory_near_ns)
        }
        crashNote = info.crash_noted_ns.nonZero.map { CrashNote(type: string(&info.crash_type).nonEmpty, monotonicNanoseconds: $0) }
    }
}

extension RunContext {
    fileprivate init(_ context: inout lg_run_context) {
        name = string(&context.name)
        phase =
            switch context.phase {
            case LG_PHASE_NONE: .notBegun
            case LG_PHASE_DECIDING: .deciding
            case LG_PHASE_REPAIRING: .repairing
            case LG_PHASE_LAUNCHING: .launching
            case LG_PHASE_FINISHED: .finished
            case LG_PHASE_HELD: .held
            case LG_PHASE_HALTED: .halted
            case LG_PHASE_TERMINATING: .terminating
            default: .invalid
            }
        begunNanoseconds = context.begun_ns.nonZero
        launchingNanoseconds = context.launching_ns.nonZero
        finishedNanoseconds = context.finished_ns.nonZero
        windowMilliseconds = context.window_ms
        finish =
            switch context.finish {
            case LG_FINISH_EITHER: .either
            case LG_FINISH_MARK: .mark
            case LG_FINISH_TIME: .time
            case LG_FINISH_BOTH: .both
            default: .invalid
            }
        rung = context.phase == LG_PHASE_REPAIRING ? context.rung : nil
        attempt = context.phase == LG_PHASE_REPAIRING ? context.attempt : nil
        task = string(&context.task).nonEmpty
        taskThreadID = context.task_tid == 0 ? nil : context.task_tid
        let names = list(&context.modules)
        modules = names.isEmpty ? nil : names
    }
}

extension Verdict {
    init(_ verdict: lg_verdict) {
        end = unsafe RunEnd(rawValue: String(cString: lg_end_name(verdict.end))) ?? .unknown
        evidence = unsafe String(cString: lg_evidence_sentence(verdict.evidence))
        evidenceKind = Evidence(value: verdict.evidence.rawValue)
        signal = verdict.signal == 0 ? nil : RunSignal(verdict.signal)
        exitCode = end == .exit || end == .clean ? verdict.code : nil
        signalCode = end == .crash ? verdict.code : nil
        kind = end == .crash ? kindName(verdict.kind) : nil
        monotonicNanoseconds = verdict.monotonic_ns.nonZero
    }
}

private func kindName(_ kind: lg_crash_kind) -> String {
    let name = unsafe String(cString: lg_crash_kind_name(kind))
    return name == "invalid" ? "kind \(kind.rawValue)" : name
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

extension Crash {
    fileprivate init(_ info: inout lg_crash_info) {
        signal = RunSignal(info.signal)
        code = info.code
        codeName = RunSignal(info.signal).codeName(info.code)
        kind = kindName(info.kind)
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

extension Crash.Note {
    fileprivate init(_ note: lg_note) {
        kind = note.kind == LG_NOTE_RECRASH ? .recrash : .alsoCrashed
        signal = RunSignal(note.signal)
        threadID = note.tid
        stage = Crash.Stage(note.stage)
        programCounter = Address(note.pc)
    }
}

extension RunModule {
    fileprivate init(_ module: inout lg_module) {
        self.init(
            path: string(&module.path), buildID: string(&module.build_id).nonEmpty, start: Address(module.start),
            end: Address(module.end), bias: Address(module.bias))
    }
}

extension Breadcrumb {
    fileprivate init(_ entry: inout lg_log_entry, time: Timestamp?) {
        self.init(
            lane: entry.lane, sequence: entry.sequence, monotonicNanoseconds: entry.monotonic_ns, time: time, threadID: entry.tid,
            level: Level(rawValue: entry.level), text: string(&entry.text, size: Int(entry.size)), category: string(&entry.category).nonEmpty,
            isCut: entry.cut != 0, isDamaged: entry.damaged != 0 ? true : nil)
    }
}

extension Breadcrumb.Field {
    fileprivate init(_ field: inout lg_log_field) {
        self.init(key: string(&field.key, size: Int(field.key_size)), value: string(&field.value, size: Int(field.value_size)))
    }
}
