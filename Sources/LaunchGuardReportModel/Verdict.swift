internal import CLaunchGuard

/// The end of a run.
public enum RunEnd: String, Codable, Sendable, CaseIterable {
    /// There was no run.
    case noRun = "none"
    case clean, terminated, crash, hang, oom, killed, exit, reboot, upgrade, debugger, unknown, running

    /// Whether it is an end that nobody wishes for. C: `lg_end_is_bad()`.
    public var isBad: Bool { core.map { lg_end_is_bad($0) != 0 } ?? false }

    /// The end as C has it.
    var core: lg_end? {
        (0..<UInt32(Self.allCases.count)).lazy.map { lg_end(rawValue: $0) }.first { unsafe String(cString: lg_end_name($0)) == rawValue }
    }
}

/// The end of a run, and the evidence for it.
public struct Verdict: Codable, Hashable, Sendable {
    public var end: RunEnd
    /// A sentence without a full stop; its subject is the run.
    public var evidence: String
    /// The same as a word; nil: of a later version.
    public var evidenceKind: Evidence?
    /// For a crash or a termination.
    public var signal: RunSignal?
    /// The status that the program gave to `exit()`.
    public var exitCode: Int32?
    /// The `si_code` of a crash.
    public var signalCode: Int32?
    /// Kind of a crash, for example "fault.null_write".
    public var kind: String?
    /// When, on the monotonic clock of the machine.
    public var monotonicNanoseconds: UInt64?

    public init(
        end: RunEnd, evidence: String, evidenceKind: Evidence? = nil, signal: RunSignal? = nil, exitCode: Int32? = nil, signalCode: Int32? = nil, kind: String? = nil,
        monotonicNanoseconds: UInt64? = nil
    ) {
        self.end = end
        self.evidence = evidence
        self.evidenceKind = evidenceKind
        self.signal = signal
        self.exitCode = exitCode
        self.signalCode = signalCode
        self.kind = kind
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// The end with its details in a few words, for example "crash SIGSEGV fault.null_write".
    public var summary: String { summary(reason: nil) }

    /// The same with a finer kind, for example "crash SIGILL trap.swift.overflow".
    public func summary(reason: String?) -> String {
        var words = [end.rawValue]
        if let signal { words.append(signal.name) }
        if let kind { words.append(reason ?? kind) }
        if let exitCode, end == .exit || exitCode != 0 { words.append("with status \(exitCode)") }
        return words.joined(separator: " ")
    }
}
