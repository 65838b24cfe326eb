internal import CLaunchGuard

extension Reader {
    /// Everything that the ledger holds.
    public func ledger() throws(ReportError) -> LedgerReport {
        guard kind == .ledger else { throw ReportError(code: .state, path: path) }
        var report = LedgerReport(path: path)
        var problems = Problems()
        var info = lg_ledger_info()
        if problems.isUsable(unsafe lg_reader_ledger(handle, &info), "ledger") {
            report.appID = string(&info.app_id).nonEmpty
            report.appVersion = string(&info.app_version).nonEmpty
            report.buildID = string(&info.build_id).nonEmpty
            report.generation = info.generation
            report.lastOrdinal = info.last_ordinal
            report.startFaults = info.start_fault_wall_ns.nonZero.map {
                StartFaults(count: info.start_faults, last: Timestamp(nanoseconds: $0), startsLeft: info.starts_left)
            }
            report.contexts = problems.list("contexts", limit: info.context_count) { index, context in
                context.size = UInt32(MemoryLayout<lg_launch_info>.size)
                return unsafe lg_reader_ledger_context(handle, index, &context)
            } as: { LedgerContext(&$0) }
            for index in report.contexts.indices {
                report.contexts[index].ladder = problems.list("ladder", limit: 64) { rung, value in
                    unsafe lg_reader_ledger_rung(handle, UInt32(index), rung, &value)
                } as: { LedgerRung(&$0) }
                report.contexts[index].suspects = problems.list("suspects", limit: 64) { suspect, value in
                    unsafe lg_reader_ledger_suspect(handle, UInt32(index), suspect, &value)
                } as: { LedgerSuspect(&$0) }
            }
            let names = report.contexts.map(\.name)
            report.timeline = problems.list("timeline", limit: info.timeline_count) { index, entry in
                unsafe lg_reader_timeline(handle, index, &entry)
            } as: { TimelineEntry(&$0, contexts: names) }
        }
        report.problems = problems.found
        return report
    }
}

extension lg_launch_info: ZeroInitialized {}
extension lg_ledger_rung: ZeroInitialized {}
extension lg_ledger_suspect: ZeroInitialized {}
extension lg_timeline_entry: ZeroInitialized {}

extension LedgerContext {
    fileprivate init(_ context: inout lg_launch_info) {
        name = string(&context.name)
        status = unsafe String(cString: lg_launch_status_name(context.status))
        mode = unsafe String(cString: lg_launch_mode_name(context.mode))
        isHalted = context.halted != 0
        isDue = context.due != 0
        isShadow = context.shadow != 0
        streak = context.streak
        unknown = context.unknown
        reported = context.reported
        reportAfter = context.report_after
        repairAfter = context.repair_after
        unknownAfter = context.unknown_after
        safeCrashLimit = context.safe_crash_limit
        rung = context.rung
        attempts = context.attempts
        interruptions = context.interruptions
        skips = context.skips
        goodRuns = context.good_runs
        retryRuns = context.retry_runs == 0 ? nil : context.retry_runs
        safeCrashes = context.safe_crashes
        lastTask = string(&context.last_task).nonEmpty
        ladder = []
        suspects = []
        launches = context.launches
        crashes = context.crashes
        repairs = context.repairs
        windowMilliseconds = context.window_ms == 0 ? nil : context.window_ms
        finish =
            switch context.finish {
            case LG_FINISH_MARK: "mark"
            case LG_FINISH_TIME: "time"
            case LG_FINISH_BOTH: "both"
            default: nil
            }
    }
}

extension LedgerRung {
    fileprivate init(_ rung: inout lg_ledger_rung) {
        name = string(&rung.name)
        impact = rung.impact
        attempts = rung.attempts
        timeoutMilliseconds = rung.timeout_ms == 0 ? nil : rung.timeout_ms
        isBuiltIn = rung.built_in != 0
        isDestructive = rung.flags & LG_REPAIR_DESTRUCTIVE != 0
        needsConsent = rung.flags & LG_REPAIR_CONSENT != 0
        needsRestart = rung.flags & LG_REPAIR_NEEDS_RESTART != 0
        lastSeries = rung.series_wall_ns.nonZero.map(Timestamp.init(nanoseconds:))
    }
}

extension LedgerSuspect {
    fileprivate init(_ suspect: inout lg_ledger_suspect) {
        key = string(&suspect.key)
        crashes = suspect.crashes
        isLeftOut = suspect.left_out != 0
    }
}

extension TimelineEntry {
    fileprivate init(_ entry: inout lg_timeline_entry, contexts: [String]) {
        func name(_ index: Int) -> String { index < contexts.count ? contexts[index] : "context \(index)" }
        func names(_ bits: UInt32) -> [String] { (0..<32).filter { bits >> $0 & 1 == 1 }.map(name) }
        uuid = string(&entry.uuid)
        ordinal = entry.ordinal
        appVersion = string(&entry.app_version).nonEmpty
        started = entry.wall_ns.nonZero.map(Timestamp.init(nanoseconds:))
        durationNanoseconds = entry.duration_ns.nonZero
        verdict = Verdict(entry.verdict)
        launching = names(entry.launching)
        repairing = names(entry.repairing)
        counted = names(entry.counted)
        attributed = names(entry.attributed)
        late = entry.late == 0 ? nil : names(entry.late)
        isTold = entry.told == 0 ? nil : true
        repairFailure = string(&entry.reason).nonEmpty
        isDegraded = entry.degraded == 0 ? nil : true
        let words = unsafe withUnsafeBytes(of: &entry.events) { unsafe Array($0.bindMemory(to: UInt32.self)) }
        events = words.enumerated().filter { $0.element != 0 }.map { index, bits in
            ContextEvents(context: name(index), events: LaunchEvent.events(bits))
        }
    }
}
