/// Another thread at the crash.
public struct ThreadState: Codable, Hashable, Sendable {
    public var threadID: Int32
    public var name: String?
    /// The way in which its state came into the record.
    public var how: How
    /// The letter of proc(5), for example "S"; nil when it was not asked for.
    public var state: String?
    /// The signals that it blocks; nil when it blocks none.
    public var blockedSignals: [RunSignal]?
    public var programCounter: Address?
    public var stackPointer: Address?
    /// Bounds of its stack.
    public var stackLow: Address?
    public var stackHigh: Address?
    public var registers: [Crash.Register]?
    /// CPU time since the thread began; nil: not known.
    public var cpuNanoseconds: UInt64?
    /// Nil when its stack was not walked.
    public var stack: Stack?
    /// The handler's walk, where the tool walked again.
    public var storedStack: Stack?
    /// Chains of callers that wait for functions of the stack by `await`, as in ``Crash``.
    public var asyncChains: [AsyncChain]?
    public var asyncChainsOmitted: UInt32?

    public init(threadID: Int32, name: String? = nil, how: How, state: String? = nil, stack: Stack? = nil) {
        self.threadID = threadID
        self.name = name
        self.how = how
        self.state = state
        self.stack = stack
    }

    /// The way in which the state of a thread came into the record. A way that this version does
    /// not know is its number.
    public struct How: RawRepresentable, Codable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The thread captured itself: registers and stack are there.
        public static let captured = How(rawValue: "captured")
        /// The thread blocks every signal and could not be asked.
        public static let masked = How(rawValue: "masked")
        /// The thread did not answer in time.
        public static let silent = How(rawValue: "silent")
        /// No thread: a task that waits, of a job that the thread began.
        public static let task = How(rawValue: "task")
    }
}

/// The other threads at the crash, counted.
public struct ThreadCounts: Codable, Hashable, Sendable {
    /// Threads besides the crashed one that the kernel listed.
    public var listed: UInt32
    /// Numbers of these that captured themselves, block every signal, and did not answer in time.
    public var captured: UInt32
    public var masked: UInt32
    public var silent: UInt32
    /// Number of these that found no room in the record.
    public var omitted: UInt32
    /// Why the list is not complete; nil: it is.
    public var listProblem: String?
    /// How long the handler waited for them.
    public var waitedNanoseconds: UInt64

    public init(
        listed: UInt32, captured: UInt32, masked: UInt32 = 0, silent: UInt32 = 0, omitted: UInt32 = 0, listProblem: String? = nil,
        waitedNanoseconds: UInt64 = 0
    ) {
        self.listed = listed
        self.captured = captured
        self.masked = masked
        self.silent = silent
        self.omitted = omitted
        self.listProblem = listProblem
        self.waitedNanoseconds = waitedNanoseconds
    }
}
