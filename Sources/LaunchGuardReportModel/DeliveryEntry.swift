/// A report in the spool of a state directory, or a run without one: whether it has reached its
/// server, and why not.
public struct DeliveryEntry: Codable, Hashable, Sendable {
    /// Identity of the report: that of the run, but for a report of a living run, which has one of
    /// its own.
    public var uuid: String
    /// Nil, as all that is not in the name of its file: the report is damaged.
    public var runUUID: String?
    /// Number of the run in its state directory.
    public var ordinal: UInt64
    public var state: State
    /// The end of the run; `.running` for a report of a living run.
    public var end: RunEnd?
    /// The same for equal crashes, in hexadecimal digits.
    public var fingerprint: String?
    /// When the report was made.
    public var made: Timestamp?
    /// Requests made so far.
    public var attempts: UInt32 = 0
    /// Status of the last answer; nil: there was none.
    public var httpStatus: Int32?
    /// When the last attempt was; nil: there was none.
    public var attempted: Timestamp?
    /// Earliest next attempt; nil: now, or never.
    public var next: Timestamp?
    /// Why a pending report waits until then.
    public var pause: Pause?
    /// When the report was sent or given up.
    public var settled: Timestamp?
    /// When `onDelivered` was called for it.
    public var told: Timestamp?
    /// Runs with the same fingerprint that have no report of their own, and for which this report
    /// stands.
    public var more: UInt64 = 0
    /// Why the last attempt failed, for a person; nil: it did not.
    public var error: String?
    /// Number of the run whose report counts this one.
    public var countedIn: UInt64?
    /// Why a run has no report, for a person.
    public var reason: String?

    /// The state of a report, or of a run without one.
    public enum State: String, Codable, Sendable, CaseIterable {
        /// The report is to be sent, or to be sent again.
        case pending
        /// A positive answer came.
        case sent
        /// The server refused it; the report is tried again each day, and with other settings.
        case held
        /// The report was given up, or is damaged.
        case dead
        /// A positive answer came, and the program learned of it.
        case told
        /// A report of the run is to be made.
        case owed
        /// The run is counted in the report of another one.
        case counted
        /// The run gets no report.
        case never
    }

    /// Why a pending report does not go now. C: `lg_delivery_pause`.
    public enum Pause: String, Codable, Sendable, CaseIterable {
        /// Many with its fingerprint were made lately.
        case paced
        /// Nothing reaches the server.
        case away
        /// The server was reached, and gave no verdict.
        case busy
        /// The server asked for it.
        case asked
        /// The bytes of the day are spent.
        case spent
        /// Another one with its fingerprint has left, and has no answer yet.
        case behind
        /// Each byte costs: a file `spool/metered` lets only first parts go.
        case metered
    }
}
