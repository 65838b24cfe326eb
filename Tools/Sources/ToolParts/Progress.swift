import LaunchGuardPlatform
import ToolBase

/// A line on the terminal, from the second that something takes on.
package struct Progress {
    private let start = ContinuousClock().now
    private var shown: ContinuousClock.Instant?
    private let isTerminal = isatty(Output.Stream.error.rawValue) == 1

    package init() {}

    package mutating func show(_ words: @autoclosure () -> String) {
        let now = ContinuousClock().now
        guard isTerminal, now - start > .seconds(1), shown.map({ now - $0 > .milliseconds(100) }) ?? true else { return }
        shown = now
        Output.write("\r\u{1B}[K" + words(), to: .error)
    }

    /// Takes the line away.
    package mutating func end() {
        if shown != nil { Output.write("\r\u{1B}[K", to: .error) }
        shown = nil
    }
}
