/// Options of a session in the form that C needs. Their numbers are checked here, because zero
/// stands for "default" in C and is a mistake here. The core checks the texts.
struct StartOptions {
    let appID: String
    let version: String
    let stateDirectory: String?
    let role: String?
    let ringBytes: UInt32
    let deadline: UInt32
    let handlerDeadline: UInt32
    let keepsRepeats: Bool
    let hangLaunching: UInt32
    let hangRunning: UInt32
    let keepRuns: UInt32
    let keepBytes: UInt64
    let stackBytes: UInt32
    let threadLimit: UInt32
    let leaveOut: UInt32
    let keepsStandardError: Bool
    let hasSpareWalk: Bool
    let capturesSignals: Bool
    let keepsCommandLine: Bool

    init(_ configuration: Session.Configuration) throws(LaunchGuardError) {
        let record = configuration.record, hang = configuration.hangThresholds
        appID = try text(configuration.appID, "appID")
        version = try text(configuration.version, "version")
        stateDirectory = if let directory = configuration.stateDirectory { try text(directory, "stateDirectory") } else { nil }
        role = if let role = configuration.role { try text(role, "role") } else { nil }
        ringBytes = try number(configuration.ringBytes, "ringBytes", in: 4096...16_777_216)
        deadline = try number(configuration.deadline.milliseconds, "deadline in ms", in: 100...60_000)
        handlerDeadline = try number(configuration.handlerDeadline.milliseconds, "handlerDeadline in ms", in: 100...3_600_000)
        keepsRepeats = configuration.keepsRepeats
        hangLaunching = try number(hang.launching.milliseconds, "hangThresholds.launching in ms", in: 100...3_600_000)
        hangRunning = try number(hang.running.milliseconds, "hangThresholds.running in ms", in: 100...3_600_000)
        keepRuns = try number(configuration.keepRuns, "keepRuns", in: 1...(.max))
        keepBytes = try number(configuration.keepBytes, "keepBytes", in: 1...UInt64(Int.max))
        stackBytes = try number(record.stackBytes, "record.stackBytes", in: 4096...16_777_216)
        threadLimit = try number(record.threadLimit, "record.threadLimit", in: 1...1024)
        leaveOut = record.leaveOut.rawValue
        keepsStandardError = record.keepsStandardError
        hasSpareWalk = record.hasSpareWalk
        capturesSignals = record.capturesSignals
        keepsCommandLine = record.keepsCommandLine
    }
}

/// Options of a launch in the form that C needs: 0 stands for "never" and "none" there, `nil` does
/// here.
struct LaunchOptions {
    let name: String
    let reportAfter: UInt32
    let repairAfter: UInt32
    let unknownAfter: UInt32
    let window: Int64
    let finish: Launch.Finish
    let reportWait: UInt32
    let count: UInt32
    let steadyAfter: Int64
    let heartbeat: UInt32
    let hold: Launch.Configuration.Hold
    let holdDeadline: UInt32
    let repairsAutomatically: Bool
    let leavesOutSuspects: Bool
    let repairGrace: UInt32
    let overrun: Launch.Configuration.Overrun.Course
    let safeRetryRuns: UInt32
    let safeCrashLimit: UInt32
    let deescalateRuns: UInt32
    let deescalateTime: Int64
    let isSupervised: Bool
    let isShadow: Bool
    let killSwitch: String?
    let modules: [String]

    init(name: String, _ configuration: Launch.Configuration) throws(LaunchGuardError) {
        self.name = try text(name, "name")
        reportAfter = try number(configuration.reportAfter, "reportAfter", in: 1...(.max))
        repairAfter = try number(configuration.repairAfter, "repairAfter", in: 1...(.max))
        unknownAfter =
            switch configuration.unknownAfter {
            case .twiceRepairAfter: .max  // LG_UNKNOWN_AFTER_DEFAULT
            case .never: 0
            case .after(let count): try number(count, "unknownAfter", in: 1...(.max - 1))
            }
        window = try number(configuration.window.milliseconds, "window in ms", in: 0...(.aDay))
        finish = configuration.finish
        reportWait = try number(configuration.reportWait.milliseconds, "reportWait in ms", in: 0...5000)
        count = configuration.count.rawValue
        steadyAfter = if let time = configuration.steadyAfter { try number(time.milliseconds, "steadyAfter in ms", in: 1...(.longestGap)) } else { 0 }
        heartbeat = if let heartbeat = configuration.heartbeat { try number(heartbeat.milliseconds, "heartbeat in ms", in: 1...(.aDay)) } else { 0 }
        hold = configuration.hold
        holdDeadline = try number(configuration.holdDeadline.milliseconds, "holdDeadline in ms", in: 1...(.aDay))
        repairsAutomatically = configuration.repairsAutomatically
        leavesOutSuspects = configuration.leavesOutSuspects
        repairGrace = try number(configuration.overrun.grace.milliseconds, "overrun.grace in ms", in: 0...(.aDay))
        overrun = configuration.overrun.course
        safeRetryRuns = try number(configuration.safeMode.retryRuns, "safeMode.retryRuns", in: 1...8)
        safeCrashLimit = if let limit = configuration.safeMode.crashLimit { try number(limit, "safeMode.crashLimit", in: 1...(.max)) } else { 0 }
        deescalateRuns = if let runs = configuration.deescalation.runs { try number(runs, "deescalation.runs", in: 1...(.max)) } else { 0 }
        deescalateTime =
            if let time = configuration.deescalation.time {
                try number(time.milliseconds, "deescalation.time in ms", in: 1...(.longestGap))
            } else {
                0
            }
        isSupervised = configuration.isSupervised
        isShadow = configuration.isShadow
        killSwitch = if let name = configuration.killSwitch { try text(name, "killSwitch") } else { nil }
        modules = configuration.modules
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
        name: String, impact: Int, timeout: Duration, attempts: Int, options: Launch.RepairOptions
    ) throws(LaunchGuardError) {
        self.name = try shortText(name, "name")
        self.impact = try number(impact, "impact", in: 0...100)
        self.timeout = try number(timeout.milliseconds, "timeout in ms", in: 1...(.aDay))
        self.attempts = try number(attempts, "attempts", in: 1...100)
        flags = options.rawValue
    }
}

/// The number in the type that C needs. The ranges are those of the core.
func number<Number: FixedWidthInteger>(
    _ value: some BinaryInteger, _ name: String, in range: ClosedRange<Number>
) throws(LaunchGuardError) -> Number {
    guard let number = Number(exactly: value), range.contains(number) else {
        throw LaunchGuardError(.option, "\(name) is \(value); it must be between \(range.lowerBound) and \(range.upperBound)")
    }
    return number
}

extension FixedWidthInteger {
    /// In milliseconds.
    fileprivate static var aDay: Self { 86_400_000 }
    /// In milliseconds, so that the nanoseconds are a number of 64 bits.
    fileprivate static var longestGap: Self { Self(Int64.max / 1_000_000) }
}

/// The text. C would read it only up to a NUL.
func text(_ value: String, _ name: String) throws(LaunchGuardError) -> String {
    guard !value.utf8.contains(0) else { throw LaunchGuardError(.option, "\(name) contains a NUL") }
    return value
}

/// The name of a repair or the key of a task.
func shortText(_ value: String, _ name: String) throws(LaunchGuardError) -> String {
    let value = try text(value, name)
    guard 1...63 ~= value.utf8.count else {
        throw LaunchGuardError(.option, "\(name) has \(value.utf8.count) bytes; it must have between 1 and 63")
    }
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
