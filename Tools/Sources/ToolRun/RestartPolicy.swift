/// Whether and when a program that failed is started again.
///
/// The launch machine decides about repairs and the end of all tries, and needs the program's
/// ledger for it. What is counted here holds where no ledger counts as well: where no record can be
/// written, or another process of the program has the ledger.
public struct RestartPolicy {
    /// The pause before the first new start, in seconds.
    let firstDelay: Double
    /// A life of at least this many seconds is no part of a loop.
    let steady: Double

    private var shortLives = 0
    private var uncountedLives = 0

    /// The launch machine finds a remedy that helps within this many starts.
    public static let mostUncounted = 8

    public init(firstDelay: Double, steady: Double) {
        self.firstDelay = firstDelay
        self.steady = steady
    }

    public enum Next: Equatable {
        case start(after: Double)
        case giveUp
    }

    /// After a life that failed. `streak`: launch crashes in a row; nil: no ledger counted it.
    public mutating func next(seconds: Double, streak: Int?) -> Next {
        let isShort = seconds < steady
        shortLives = isShort ? shortLives + 1 : 0
        uncountedLives = isShort && streak == nil ? uncountedLives + 1 : 0
        if uncountedLives >= Self.mostUncounted { return .giveUp }
        // The pause doubles with each launch that failed, and with each short life.
        let failures = max(streak ?? 0, shortLives)
        return .start(after: firstDelay * min(Double(1 << min(max(failures - 1, 0), 6)), 60))
    }
}
