import LaunchGuardPlatform
import ToolParts

/// A line on the terminal, from the second that something takes on.
struct Progress {
    private let start = ContinuousClock().now
    private var shown: ContinuousClock.Instant?
    private let isTerminal = isatty(Output.Stream.error.rawValue) == 1

    mutating func show(_ runs: Int) {
        let now = ContinuousClock().now
        guard isTerminal, now - start > .seconds(1), shown.map({ now - $0 > .milliseconds(100) }) ?? true else { return }
        shown = now
        Output.write("\r\u{1B}[K\(runs) runs collected", to: .error)
    }

    /// Takes the line away.
    mutating func end() {
        if shown != nil { Output.write("\r\u{1B}[K", to: .error) }
        shown = nil
    }
}
