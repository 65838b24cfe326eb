extension DeliveryEntry {
    /// Beside the state: the attempts and the last error of a report that was not sent, and the
    /// runs for which the report stands. `time` writes a time.
    public func remarks(time: (Timestamp) -> String = \.secondsText) -> [String] {
        var remarks: [String] = []
        if state != .sent {
            let count = attempts == 0 ? nil : UInt64(attempts).counting("attempt", "attempts")
            let failure = [count, error ?? httpStatus.map { "HTTP status \($0)" }].compactMap(\.self)
            if !failure.isEmpty { remarks.append(failure.joined(separator: ": ")) }
        }
        if state == .pending, let next { remarks.append("next at \(time(next))") }
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
        case .pending: .plain
        case .sent: .green
        case .held: .yellow
        case .dead: .red
        }
    }
}
