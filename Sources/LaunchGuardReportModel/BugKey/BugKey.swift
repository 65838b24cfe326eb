/// The key of a bug at the desk, by names: the same in each build of a program, where the coarse
/// key (``RunReport/fingerprint``) is that of one build. docs/FINGERPRINT.md has its rules.
struct BugKey: Hashable, Sendable {
    /// The lines of which the key is made: a word, a space, a value.
    let lines: [String]

    /// 32 hexadecimal digits.
    var digits: String { Reader.bugKeyDigest(lines.map { $0 + "\n" }.joined()) }

    /// Nil: the report names nothing that the coarse key does not have. Frames are to have their
    /// symbols by now.
    init?(_ report: RunReport) {
        guard let verdict = report.verdict, verdict.end.isBad, let app = report.identity?.appID else { return nil }
        var lines = ["app \(app)", "end \(verdict.end.rawValue)"]
        let frames = Frames(report)
        switch verdict.end {
        case .crash:
            if let crash = report.fatalCrash {
                guard let places = frames.places(of: crash) else { return nil }
                lines += Self.reason(of: crash) + places
            } else {
                guard let words = Self.words(of: report) else { return nil }
                lines += [verdict.signal.map { "signal \($0.name)" }].compactMap(\.self) + words
            }
        case .hang:
            guard let places = report.hang?.threads?.first.flatMap(frames.places) else { return nil }
            lines += places
        case .noRun, .clean, .terminated, .oom, .killed, .exit, .reboot, .upgrade, .debugger, .unknown, .running:
            guard let words = Self.words(of: report) else { return nil }
            lines += (verdict.exitCode.map { ["code \($0)"] } ?? []) + words
        }
        self.lines = lines.map { String($0.prefix(512)) }
    }

    /// The kind of the crash, and its messages without their data.
    private static func reason(of crash: Crash) -> [String] {
        let kind = family(of: crash.finestKind)
        var lines = ["kind \(kind)"]
        if kind.hasPrefix("signal.") { lines.append("signal \(crash.signal.name)") }
        let isOfSystem = crash.messages?.contains { $0.source == .cppType && ($0.demangled ?? $0.text).contains("system_error") } == true
        for message in crash.messages ?? [] {
            // The text of such an exception begins with what the program was given.
            if isOfSystem, message.source == .cppWhat { continue }
            if let words = MessageWords.said(message, in: kind) { lines.append("message \(words)") }
        }
        return lines
    }

    /// One bad pointer gives any kind of a family by chance.
    private static func family(of kind: String) -> String {
        switch kind {
        case "fault.null_read", "fault.null_write", "fault.null_offset": "fault.null"
        case "fault.unmapped", "fault.general_protection", "fault.protected", "fault.readonly_write": "fault.wild"
        case "fault.jump_bad", "fault.exec_nx": "fault.jump_wild"
        case "abort.explicit", "abort.cpp_terminate": "abort"
        default: kind
        }
    }

    /// What a program without a record said on standard error; nil: nothing that is a reason.
    private static func words(of report: RunReport) -> [String]? {
        guard let said = report.lastWords?.text.inOneLine else { return nil }
        let place = report.standardError.flatMap { MessageWords.pythonPlace(in: $0.text) }
        return ["message \(MessageWords.words(ofProgram: said))"] + (place.map { ["frame \($0)"] } ?? [])
    }
}

extension RunReport {
    /// The key by which a desk groups its runs: the bug key, or without names `coarse`, the coarse
    /// key of the run. Frames are to have their symbols by now.
    public func bugKey(coarse: String?) -> String? { BugKey(self)?.digits ?? coarse }

    /// Frames of a program that ended itself, whose functions may have done so for their callers.
    public var endingFrames: [Frame] { fatalCrash.map(BugKey.Frames(self).ending) ?? [] }

    /// The frame whose place in its function the bug key has, and that function.
    public var placedFrame: (frame: Frame, function: Symbol)? {
        let frames = BugKey.Frames(self)
        return (fatalCrash.map(frames.placed) ?? hang?.threads?.first.flatMap(frames.placed)).map { ($0.frame, $0.symbol) }
    }
}
