extension DeliveryEntry {
    /// Beside the state: when it came about, the attempts and the last error of a report that was
    /// not sent, why it waits and until when, and the runs for which the report stands. `time`
    /// writes a time.
    public func remarks(time: (Timestamp) -> String = \.secondsText) -> [String] {
        var remarks: [String] = []
        if let moment = state == .told ? told : settled { remarks.append("at \(time(moment))") }
        if let countedIn { remarks.append("in the report of run \(countedIn)") }
        if let reason { remarks.append(reason) }
        if state != .sent && state != .told {
            let count = attempts == 0 ? nil : UInt64(attempts).counting("attempt", "attempts")
            let failure = [count, error ?? httpStatus.map { "HTTP status \($0)" }].compactMap(\.self)
            if !failure.isEmpty { remarks.append(failure.joined(separator: ": ")) }
        }
        if let pause { remarks.append(pause.words) }
        if state == .pending || state == .held, let next { remarks.append("next at \(time(next))") }
        if more > 0 { remarks.append("stands for \(more) more") }
        return remarks
    }

    /// All of it, for example "pending; 2 attempts: connection refused; stands for 3 more".
    public var summary: String {
        ([state.rawValue] + remarks()).joined(separator: "; ")
    }
}

extension DeliveryEntry.State {
    /// A state that holds a report back stands out.
    public var style: TextWriter.Style {
        switch self {
        case .pending, .owed, .counted: .plain
        case .never: .dim
        case .sent, .told: .green
        case .held: .yellow
        case .dead: .red
        }
    }
}

extension DeliveryEntry.Pause {
    fileprivate var words: String {
        switch self {
        case .paced: "many like it were made lately"
        case .away: "the server is away"
        case .busy: "the server is busy"
        case .asked: "the server asked for a pause"
        case .spent: "the bytes of the day are spent"
        case .behind: "one like it has no answer yet"
        case .metered: "each byte costs, as spool/metered says"
        }
    }
}
