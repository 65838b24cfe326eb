/// A fault that a guard found. The first event of a site is reported at once, later ones at most
/// once a second, with their count.
public struct GuardEvent: Sendable {
    /// A key and its value.
    public struct Field: Hashable, Sendable {
        /// Meaning of the value.
        public let key: String
        /// The value, as text.
        public let value: String
    }

    /// The kind of the fault; nil for a kind of a newer core.
    public let guardClass: GuardClass?
    /// The action on the fault; nil for an action of a newer core.
    public let action: GuardAction?
    /// Number of the thread that met the fault, by the system.
    public let threadID: Int32
    /// Name of the thread.
    public let threadName: String
    /// Time since the system started, without the time that it slept: `CLOCK_MONOTONIC`.
    public let time: Duration
    /// Address of the code that met the fault; 0: the site is not counted separately.
    public let site: UInt64
    /// Events at this site so far.
    public let count: Int
    /// Number of them since the event before this one that were not reported separately.
    public let skipped: Int
    /// One line for people. This and the rest describe the first event of the site.
    public let text: String
    /// Details, for example the index and the count.
    public let fields: [Field]
    /// Code addresses, innermost first: return addresses, but the first.
    public let frames: [UInt64]
    /// Events that ``Guards/events`` had no room for, since the one before this; 0 elsewhere.
    public internal(set) var dropped = 0
}
