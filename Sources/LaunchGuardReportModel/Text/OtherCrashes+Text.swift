extension RunReport {
    /// The crashes beside the one that counts, each with its stack.
    func writeOtherCrashes(to writer: inout TextWriter) {
        for other in otherCrashes ?? [] {
            writer.heading(title(of: other))
            other.writeMessages(to: &writer)
            other.writeStack(to: &writer)
        }
    }

    /// A crash beside the one that counts, in a line.
    func title(of other: Crash) -> String {
        let what = other.isRequestedDump ? "a dump of all threads that was asked for" : "another crash"
        let reason = other.isRequestedDump ? "" : " (\(other.finestKind))"
        let survived = other.isHandled ? "; the program survived it" : ""
        return "\(what): \(other.signal.name)\(reason) on \(other.threadWords), \(relation(of: other))\(survived)"
    }

    /// When and where a crash came, seen from the one that counts.
    private func relation(of other: Crash) -> String {
        if let within = other.within {
            if within == crash?.sequence { return "in the handler of the crash above" }
            if let outer = otherCrashes?.first(where: { $0.sequence == within }) { return "in the handler of the crash of thread \(outer.threadID)" }
        }
        guard let crash, other.sequence < crash.sequence else { return "later" }
        if crash.within == other.sequence { return "in whose handler the crash above came" }
        return other.isHandled ? "earlier" : "earlier, and still in its handler when the crash above came"
    }
}
