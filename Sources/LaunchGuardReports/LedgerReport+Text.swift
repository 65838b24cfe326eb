extension LedgerReport {
    /// The ledger as text for a person: contexts with their ladders first, then the timeline,
    /// oldest run first.
    ///
    /// - Parameters:
    ///   - runLimit: how many of the newest runs; nil: all.
    ///   - now: what throttles are measured against.
    public func write(to writer: inout TextWriter, runLimit: Int? = nil, now: Timestamp = .now) {
        writer.line([appID ?? "no ledger", appVersion].compactMap(\.self).joined(separator: " "), .bold)
        writer.line("  \(path)" + (generation.map { ", generation \($0)" } ?? ""), .dim)
        for context in contexts {
            writer.endLine()
            context.write(to: &writer, now: now)
        }
        Timeline(self).write(to: &writer, limit: runLimit)
        writeProblems(problems, to: &writer)
    }
}

extension End {
    /// Ends of which the program is the cause stand out.
    package var style: TextWriter.Style {
        switch self {
        case .crash, .hang, .oom: .red
        case .killed, .unknown, .exit: .yellow
        case .clean, .running: .green
        default: .plain
        }
    }
}
