/// Stacks of a program that lived on, taken while it hung, when a job of it was about to overrun
/// its deadline, or when memory came near its limit.
public struct Snapshot: Codable, Hashable, Sendable {
    public var kind: Kind
    /// The thread that hung, or that began the job; 0: there is no such thread.
    public var threadID: Int32
    /// Name of the thread, or of the job.
    public var name: String?
    /// From 1: in the order in which they were taken.
    public var sequence: UInt32
    /// The last heartbeat before it, the begin of the job, or when memory was found near its limit;
    /// on the monotonic clock, as all of these.
    public var sinceNanoseconds: UInt64
    public var takenNanoseconds: UInt64
    /// When it was over; nil: it was not.
    public var resolvedNanoseconds: UInt64?
    /// Whether it was taken to its end; a program that was killed or crashed meanwhile left a part
    /// of it.
    public var isComplete: Bool
    /// The threads, the one that matters first.
    public var threads: [ThreadState]?
    public var threadCounts: ThreadCounts?

    public init(
        kind: Kind, threadID: Int32, name: String? = nil, sequence: UInt32 = 1, sinceNanoseconds: UInt64, takenNanoseconds: UInt64,
        resolvedNanoseconds: UInt64? = nil, isComplete: Bool = true, threads: [ThreadState]? = nil, threadCounts: ThreadCounts? = nil
    ) {
        self.kind = kind
        self.threadID = threadID
        self.name = name
        self.sequence = sequence
        self.sinceNanoseconds = sinceNanoseconds
        self.takenNanoseconds = takenNanoseconds
        self.resolvedNanoseconds = resolvedNanoseconds
        self.isComplete = isComplete
        self.threads = threads
        self.threadCounts = threadCounts
    }

    /// Why it was taken. One that this version does not know is its name.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let hang = Kind(rawValue: "hang")
        public static let deadline = Kind(rawValue: "deadline")
        /// The first time in the run that memory came near its limit.
        public static let memory = Kind(rawValue: "memory")
    }
}

/// A thread whose run loop said that it comes round.
public struct Heartbeat: Codable, Hashable, Sendable {
    public var threadID: Int32
    public var name: String?
    /// Whether it waited, and no heartbeat was expected.
    public var isPaused: Bool
    /// On the monotonic clock.
    public var lastBeatNanoseconds: UInt64
    /// The last heartbeat before it hung; nil: it did not hang.
    public var hangSinceNanoseconds: UInt64?
}

/// A job that had to be over in a certain time and had not ended.
public struct Deadline: Codable, Hashable, Sendable {
    public var name: String
    /// The thread that began it.
    public var threadID: Int32
    public var limitMilliseconds: UInt32
    /// On the monotonic clock.
    public var begunNanoseconds: UInt64
    /// When nine tenths of its time were found to have passed; nil: they had not.
    public var nearNanoseconds: UInt64?
}
