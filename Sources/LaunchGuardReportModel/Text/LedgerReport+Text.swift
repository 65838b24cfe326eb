extension LedgerReport {
    /// The ledger as text for a person: contexts with their ladders first, then the timeline,
    /// oldest run first.
    ///
    /// - Parameters:
    ///   - writer: gets the text.
    ///   - runLimit: how many of the newest runs; nil: all.
    ///   - now: what throttles are measured against.
    public func write(to writer: inout TextWriter, runLimit: Int? = nil, now: Timestamp = .now) {
        writer.line([appID ?? "no ledger", appVersion].compactMap(\.self).joined(separator: " "), .bold)
        writer.line("  \(path)" + (generation.map { ", generation \($0)" } ?? ""), .dim)
        startFaults?.write(to: &writer)
        hint?.write(to: &writer, now: now)
        for context in contexts {
            writer.endLine()
            context.write(to: &writer, now: now)
        }
        Timeline(self).write(to: &writer, limit: runLimit)
        writeProblems(problems, to: &writer)
    }
}

extension StartFaults {
    func write(to writer: inout TextWriter) {
        let faults = count == 1 ? "a start of LaunchGuard itself ended in a fault" : "\(count) starts of LaunchGuard itself ended in a fault, one after the other"
        let rest = startsLeft == 0
            ? "the next start tries again"
            : "it is off for \(startsLeft) more \(startsLeft == 1 ? "start" : "starts") or until a day later, or until a new version of the program, and then tries again"
        writer.line("  \(faults), the last at \(last.description); \(rest)", .red)
    }
}

extension VendorHint {
    /// For a person; nil: it is over.
    public func text(now: Timestamp = .now) -> String? {
        guard isInForce(at: now) else { return nil }
        let act =
            switch kind {
            case "leave-out": "leave out the task \(quotedName)"
            case "repair": "run the repair \(quotedName) once"
            case "safe-mode": "safe mode"
            case "hold-below": "hold below the version \(quotedName)"
            default: TextWriter.escaped(kind)
            }
        return "hint \(serial) of the vendor for \(TextWriter.escaped(context)), until \(expires.secondsText): \(act)"
    }

    private var quotedName: String { "\"\(TextWriter.escaped(name ?? ""))\"" }

    func write(to writer: inout TextWriter, now: Timestamp) {
        if let text = text(now: now) { writer.line("  \(text)", .yellow) }
    }
}

extension RunEnd {
    /// Ends of which the program is the cause stand out.
    public var style: TextWriter.Style {
        switch self {
        case .crash, .hang, .oom: .red
        case .killed, .unknown, .exit: .yellow
        case .clean, .running: .green
        default: .plain
        }
    }
}
