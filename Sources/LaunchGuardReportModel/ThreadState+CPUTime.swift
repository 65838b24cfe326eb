/// The CPU time of a thread since it began, and the words for the thread.
struct CPUTime {
    var thread: String
    var nanoseconds: UInt64

    /// The threads that used the most, with their parts of the time of all of them. Nil: the times
    /// of fewer than two threads are known, or they are too short to say anything.
    static func hottest(of times: [CPUTime]) -> String? {
        let known = times.filter { $0.nanoseconds > 0 }.sorted { $0.nanoseconds > $1.nanoseconds }
        let total = known.reduce(0.0) { $0 + Double($1.nanoseconds) }
        guard known.count >= 2, total >= 10_000_000 else { return nil }
        let shares = known.prefix(3).map { ($0, Int((Double($0.nanoseconds) / total * 100).rounded())) }.filter { $0.1 > 0 }
        return "most CPU time: " + shares.map { "\($0.thread) \($0.nanoseconds.durationText) (\($1) %)" }.joined(separator: ", ")
    }
}

extension ThreadState {
    var cpuTime: CPUTime {
        CPUTime(thread: "thread \(threadID)" + (name.map { " \"\($0)\"" } ?? ""), nanoseconds: cpuNanoseconds ?? 0)
    }

    /// The time of threads that are shown as one.
    static func cpuWords(of group: [ThreadState]) -> String? {
        let total = group.reduce(UInt64(0)) { $0.addingReportingOverflow($1.cpuNanoseconds ?? 0).partialValue }
        return total == 0 ? nil : "CPU time \(total.durationText)" + (group.count > 1 ? " in all" : "")
    }
}
