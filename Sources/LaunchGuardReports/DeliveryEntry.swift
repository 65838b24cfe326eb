/// A report in the spool of a state directory: whether it has reached its server.
///
/// A delivered report stays until its call of `onDelivered` in the program.
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
    public var attempts: UInt32
    /// Status of the last answer; nil: there was none.
    public var httpStatus: Int32?
    /// When the last attempt was; nil: there was none.
    public var attempted: Timestamp?
    /// Earliest next attempt; nil: now, or never.
    public var next: Timestamp?
    /// Runs with the same fingerprint that have no report of their own, and for which this report
    /// stands.
    public var more: UInt64
    /// Why the last attempt failed, for a person; nil: it did not.
    public var error: String?

    /// The state of a report.
    public enum State: String, Codable, Sendable, CaseIterable {
        /// The report is to be sent, or to be sent again.
        case pending
        /// A positive answer came.
        case sent
        /// The server refused the credentials; the report goes again once the configuration has
        /// changed.
        case held
        /// The server refused the report for good, the attempts are used up, or the report is
        /// damaged.
        case dead
    }
}
