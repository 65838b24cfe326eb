internal import CLaunchGuard

/// The values of C as those of Swift, and back.

extension lg_launch_options {
    /// Everything but callbacks and texts.
    init(_ options: LaunchOptions?) {
        unsafe self.init()
        unsafe size = UInt32(MemoryLayout<lg_launch_options>.size)
        guard let options else { return }
        unsafe report_after = options.reportAfter
        unsafe repair_after = options.repairAfter
        unsafe unknown_after = options.unknownAfter
        unsafe window_ms = options.window
        unsafe finish = options.finish.core
        unsafe report_wait_ms = options.reportWait
        unsafe count = options.count
        unsafe steady_ms = options.steadyAfter
        unsafe heartbeat_ms = options.heartbeat
        unsafe hold = options.hold.core
        unsafe hold_ms = options.holdDeadline
        unsafe auto_repair = options.repairsAutomatically ? 1 : 0
        unsafe leave_out_suspects = options.leavesOutSuspects ? 1 : 0
        unsafe repair_grace_ms = options.repairGrace
        unsafe overrun = options.overrun == .nextAttempt ? LG_OVERRUN_GO_ON : LG_OVERRUN_SAFE
        unsafe safe_retry_runs = options.safeRetryRuns
        unsafe safe_crash_limit = options.safeCrashLimit
        unsafe deescalate_runs = options.deescalateRuns
        unsafe deescalate_ms = options.deescalateTime
        unsafe supervised = options.isSupervised ? 1 : 0
        unsafe shadow = options.isShadow ? 1 : 0
        unsafe callbacks = LG_CALLBACKS_LIBRARY
    }
}

extension LaunchInfo {
    init(_ info: lg_launch_info) {
        name = characters(info.name)
        status = Launch.Status(info.state)
        mode = Launch.Mode(info.mode)
        isHalted = info.halted != 0
        isDue = info.due != 0
        isShadow = info.shadow != 0
        streak = Int(info.streak)
        unknown = Int(info.unknown)
        reported = Int(info.reported)
        rung = Int(info.rung)
        rungCount = Int(info.rung_count)
        attempts = Int(info.attempts)
        interruptions = Int(info.interruptions)
        skips = Int(info.skips)
        goodRuns = Int(info.good_runs)
        retryRuns = Int(info.retry_runs)
        safeCrashes = Int(info.safe_crashes)
        reportAfter = Int(info.report_after)
        repairAfter = Int(info.repair_after)
        unknownAfter = info.unknown_after == 0 ? nil : Int(info.unknown_after)
        safeCrashLimit = info.safe_crash_limit == 0 ? nil : Int(info.safe_crash_limit)
        suspectCount = Int(info.suspect_count)
        launches = info.launches
        crashes = info.crashes
        repairs = info.repairs
        lastTask = text(info.last_task)
        window = info.window_ms == 0 ? nil : .milliseconds(Int64(info.window_ms))
        finish = Launch.Finish(info.finish)
        ends = Int(info.ends)
        quits = Int(info.quits)
        unsteady = Int(info.unsteady)
        stops = Int(info.stops)
        hint = Launch.Hint(info.events)
    }
}

/// The text in an array of `char`, which Swift sees as a tuple.
func characters<Characters>(_ array: Characters) -> String {
    unsafe withUnsafeBytes(of: array) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// The same, where an empty text stands for none.
private func text<Characters>(_ array: Characters) -> String? {
    let text = characters(array)
    return text.isEmpty ? nil : text
}

extension Launch.Finish {
    fileprivate var core: lg_finish {
        switch self {
        case .either: LG_FINISH_EITHER
        case .mark: LG_FINISH_MARK
        case .time: LG_FINISH_TIME
        case .both: LG_FINISH_BOTH
        }
    }

    fileprivate init(_ finish: lg_finish) {
        switch finish {
        case LG_FINISH_MARK: self = .mark
        case LG_FINISH_TIME: self = .time
        case LG_FINISH_BOTH: self = .both
        default: self = .either
        }
    }
}

extension Launch.Decision {
    var core: lg_decision {
        switch self {
        case .byRule: LG_DECISION_BY_RULE
        case .goOn: LG_DECISION_GO_ON
        case .protect: LG_DECISION_PROTECT
        case .hold: LG_DECISION_HOLD
        }
    }
}

extension Report {
    init(_ report: lg_report) {
        unsafe self.init(
            path: String(cString: report.path),
            uuid: String(cString: report.uuid),
            ordinal: report.ordinal,
            end: Report.End(report.end),
            signal: report.signal == 0 ? nil : report.signal,
            isInLaunch: report.in_launch != 0,
            kind: report.end == LG_END_CRASH ? String(cString: lg_crash_kind_name(report.kind)) : nil,
            fingerprint: text(report.fingerprint),
            isSameAsBefore: report.same_as_before != 0,
            place: text(report.place)
        )
    }
}

extension Launch.ReportBatch {
    init(_ batch: lg_report_batch) {
        let reports = unsafe UnsafeBufferPointer(start: batch.reports, count: Int(batch.report_count)).compactMap { pointer in
            unsafe pointer.map { unsafe Report($0.pointee) }
        }
        unsafe self.init(context: String(cString: batch.context), streak: Int(batch.streak), reports: reports)
    }
}

extension Launch.Hold.Reason {
    init(_ held: lg_held) {
        unsafe self.init(
            kind: Kind(rawValue: UInt32(held.reason.rawValue)), repair: held.repair.map { unsafe String(cString: $0) },
            text: held.text.map { unsafe String(cString: $0) })
    }
}

extension KeptFile {
    init(_ kept: lg_kept_file) {
        unsafe self.init(
            path: String(cString: kept.path),
            kind: kept.kind == LG_KEPT_FILE ? .file : kept.kind == LG_KEPT_DIRECTORY ? .directory : .absent,
            bytes: kept.bytes,
            copied: WallInstant(nanoseconds: kept.wall_ns) ?? WallInstant(sinceEpoch: .zero)
        )
    }
}

extension Launch.Configuration.Hold {
    fileprivate var core: lg_hold {
        switch self {
        case .block: LG_HOLD_BLOCK
        case .custody: LG_HOLD_CUSTODY
        case .never: LG_HOLD_NONE
        }
    }
}

extension Launch.Status {
    init(_ state: lg_launch_state) {
        switch state {
        case LG_LAUNCH_STATE_LAUNCHING: self = .launching
        case LG_LAUNCH_STATE_AWAITING_REPAIR: self = .awaitingRepair
        case LG_LAUNCH_STATE_REPAIRING: self = .repairing
        case LG_LAUNCH_STATE_FINISHED: self = .finished
        default: self = .idle
        }
    }

    /// From a change, which may be older than the state now. The change to "normal" is the end of a
    /// launch, and only a simulated one is idle again by then.
    init(_ status: lg_launch_status, now: lg_launch_state) {
        switch status {
        case LG_LAUNCH_CHECKING: self = .launching
        case LG_LAUNCH_NEEDS_REPAIR: self = .awaitingRepair
        case LG_LAUNCH_REPAIRING: self = .repairing
        default: self = now == LG_LAUNCH_STATE_IDLE ? .idle : .finished
        }
    }
}

extension Launch.Hint {
    /// From LG_EVENT_*.
    fileprivate init?(_ events: UInt32) {
        switch events & (LG_EVENT_HINT_LEAVE_OUT | LG_EVENT_HINT_REPAIR | LG_EVENT_HINT_SAFE_MODE | LG_EVENT_HINT_HOLD_BELOW) {
        case LG_EVENT_HINT_LEAVE_OUT: self = .leaveOut
        case LG_EVENT_HINT_REPAIR: self = .repair
        case LG_EVENT_HINT_SAFE_MODE: self = .safeMode
        case LG_EVENT_HINT_HOLD_BELOW: self = .holdBelow
        default: return nil
        }
    }
}

extension Launch.Mode {
    fileprivate init(_ mode: lg_launch_mode) {
        switch mode {
        case LG_LAUNCH_MODE_PROBATION: self = .probation
        case LG_LAUNCH_MODE_SAFE: self = .safe
        case LG_LAUNCH_MODE_TRIAL: self = .trial
        default: self = .normal
        }
    }
}

extension Report.End {
    init(_ end: lg_end) {
        self = unsafe Report.End(rawValue: String(cString: lg_end_name(end))) ?? .unknown
    }

    var core: lg_end {
        switch self {
        case .clean: LG_END_CLEAN
        case .terminated: LG_END_TERMINATED
        case .crash: LG_END_CRASH
        case .hang: LG_END_HANG
        case .oom: LG_END_OOM
        case .killed: LG_END_KILLED
        case .exit: LG_END_EXIT
        case .reboot: LG_END_REBOOT
        case .upgrade: LG_END_UPGRADE
        case .debugger: LG_END_DEBUGGER
        case .unknown: LG_END_UNKNOWN
        case .running: LG_END_RUNNING
        }
    }
}
