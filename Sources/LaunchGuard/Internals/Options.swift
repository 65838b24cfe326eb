/// Options of a session, checked as far as their types go. The core checks the values.
///
/// Zero stands for "default" in C; `nil` does here. A zero from the program is therefore a mistake.
struct StartOptions {
    let appID: String
    let version: String
    let stateDirectory: String?
    let role: String?
    let ringBytes: UInt32
    let deadline: UInt32
    let handlerDeadline: UInt32
    let hangLaunching: UInt32
    let hangRunning: UInt32
    let keepRuns: UInt32
    let keepBytes: UInt64
    let stackBytes: UInt32
    let threadLimit: UInt32
    let leaveOut: UInt32
    let keepsStandardError: Bool
    let spareWalk: Bool
    let capturesSignals: Bool
    let keepsCommandLine: Bool

    init(
        appID: String, version: String, stateDirectory: String?, role: String?, ringBytes: Int?, deadline: Duration?,
        handlerDeadline: Duration?, hangThresholds: LaunchGuard.HangThresholds, keepRuns: Int?, keepBytes: Int?,
        record: LaunchGuard.RecordOptions
    ) throws(LaunchGuardError) {
        self.appID = try text(appID, "appID")
        self.version = try text(version, "version")
        self.stateDirectory = if let stateDirectory { try text(stateDirectory, "stateDirectory") } else { nil }
        self.role = if let role { try text(role, "role") } else { nil }
        self.ringBytes = if let ringBytes { try number(ringBytes, "ringBytes", from: 1) } else { 0 }
        self.deadline = if let deadline { try number(deadline.milliseconds, "deadline in ms", from: 1) } else { 0 }
        self.handlerDeadline =
            if let handlerDeadline { try number(handlerDeadline.milliseconds, "handlerDeadline in ms", from: 1) } else { 0 }
        hangLaunching =
            if let time = hangThresholds.launching { try number(time.milliseconds, "hangThresholds.launching in ms", from: 1) } else { 0 }
        hangRunning =
            if let time = hangThresholds.running { try number(time.milliseconds, "hangThresholds.running in ms", from: 1) } else { 0 }
        self.keepRuns = if let keepRuns { try number(keepRuns, "keepRuns", from: 1) } else { 0 }
        self.keepBytes = if let keepBytes { try number(keepBytes, "keepBytes", from: 1) } else { 0 }
        self.stackBytes = if let bytes = record.stackBytes { try number(bytes, "stackBytes", from: 1) } else { 0 }
        self.threadLimit = if let limit = record.threadLimit { try number(limit, "threadLimit", from: 1) } else { 0 }
        self.leaveOut = record.leaveOut.rawValue
        self.keepsStandardError = record.keepsStandardError
        spareWalk = record.spareWalk
        capturesSignals = record.capturesSignals
        keepsCommandLine = record.keepsCommandLine
    }
}

/// Options of a launch: 0 stands for "never" and "none" in C, `nil` does here.
struct LaunchOptions {
    let name: String
    let reportAfter: UInt32
    let repairAfter: UInt32
    let unknownAfter: UInt32?
    let window: Int64
    let finish: LaunchGuard.Finish
    let reportWait: UInt32
    let count: UInt32
    let streakGap: Int64
    let heartbeat: UInt32
    let hold: LaunchGuard.Hold
    let holdDeadline: UInt32
    let automaticRepair: Bool
    let leavesOutSuspects: Bool
    let safeRetryRuns: UInt32
    let safeCrashLimit: UInt32
    let deescalateRuns: UInt32
    let deescalateTime: Int64
    let isSupervised: Bool
    let isShadow: Bool
    let killSwitch: String?
    let modules: [String]

    init(
        name: String, reportAfter: Int, repairAfter: Int, unknownAfter: Int?, window: Duration, finish: LaunchGuard.Finish,
        reportWait: Duration, policy: LaunchGuard.LaunchPolicy
    ) throws(LaunchGuardError) {
        self.name = try text(name, "name")
        self.reportAfter = try number(reportAfter, "reportAfter", from: 1)
        self.repairAfter = try number(repairAfter, "repairAfter", from: 1)
        self.unknownAfter = if let unknownAfter { try number(unknownAfter, "unknownAfter", from: 0) } else { nil }
        self.window = try number(window.milliseconds, "window in ms", from: 0)
        self.finish = finish
        self.reportWait = try number(reportWait.milliseconds, "reportWait in ms", from: 0)
        count = policy.count.rawValue
        streakGap = if let gap = policy.streakGap { try number(gap.milliseconds, "streakGap in ms", from: 1) } else { 0 }
        heartbeat = if let heartbeat = policy.heartbeat { try number(heartbeat.milliseconds, "heartbeat in ms", from: 1) } else { 0 }
        hold = policy.hold
        holdDeadline = try number(policy.holdDeadline.milliseconds, "holdDeadline in ms", from: 1)
        automaticRepair = policy.automaticRepair
        leavesOutSuspects = policy.leavesOutSuspects
        safeRetryRuns = try number(policy.safeMode.retryRuns, "safeMode.retryRuns", from: 1)
        safeCrashLimit = if let limit = policy.safeMode.crashLimit { try number(limit, "safeMode.crashLimit", from: 1) } else { 0 }
        deescalateRuns = if let runs = policy.deescalation.runs { try number(runs, "deescalation.runs", from: 1) } else { 0 }
        deescalateTime =
            if let time = policy.deescalation.time { try number(time.milliseconds, "deescalation.time in ms", from: 1) } else { 0 }
        isSupervised = policy.isSupervised
        isShadow = policy.isShadow
        killSwitch = if let name = policy.killSwitch { try text(name, "killSwitch") } else { nil }
        modules = policy.modules
        for module in modules where module.isEmpty || module.utf8.contains(0) {
            throw LaunchGuardError(.option, "the name of a module is empty or contains a NUL")
        }
    }
}

/// A repair in the form that C needs.
struct Rung {
    let name: String
    let impact: UInt32
    let timeout: UInt32
    let attempts: UInt32
    let flags: UInt32

    init(
        name: String, impact: Int, timeout: Duration, attempts: Int, options: LaunchGuard.RepairOptions
    ) throws(LaunchGuardError) {
        self.name = try text(name, "name")
        self.impact = try number(impact, "impact", from: 0)
        self.timeout = try number(timeout.milliseconds, "timeout in ms", from: 1)
        self.attempts = try number(attempts, "attempts", from: 1)
        flags = options.rawValue
    }
}

/// The number in the type that C needs.
private func number<Number: FixedWidthInteger>(
    _ value: some BinaryInteger, _ name: String, from least: Number
) throws(LaunchGuardError) -> Number {
    guard value >= least else { throw LaunchGuardError(.option, "\(name) is \(value); it must be at least \(least)") }
    guard let number = Number(exactly: value) else { throw LaunchGuardError(.option, "\(name) is \(value); the value is too large") }
    return number
}

/// The text. C would read it only up to a NUL.
func text(_ value: String, _ name: String) throws(LaunchGuardError) -> String {
    guard !value.utf8.contains(0) else { throw LaunchGuardError(.option, "\(name) contains a NUL") }
    return value
}

extension Duration {
    /// Whole milliseconds, rounded away from zero, so that a short time does not become "none".
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (part, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        let (sum, tooMuch) = whole.addingReportingOverflow(part + rest.signum())
        return tooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
