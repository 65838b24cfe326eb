internal import CLaunchGuard

extension RunIdentity {
    init(_ info: inout lg_run_info) {
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
    init(_ context: inout lg_run_context) {
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
        kind = end == .crash ? CLibrary.kindName(verdict.kind) : nil
        monotonicNanoseconds = verdict.monotonic_ns.nonZero
    }
}

extension RunModule {
    init(_ module: inout lg_module) {
        self.init(
            path: string(&module.path), buildID: string(&module.build_id).nonEmpty, start: Address(module.start),
            end: Address(module.end), bias: Address(module.bias))
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
