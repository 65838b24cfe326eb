extension Delivery {
    /// A report in the spool.
    public struct Entry: Hashable, Sendable, Codable {
        /// Identity of the report: that of the run, but for a report of a living run.
        public let uuid: String
        /// Identity of the run.
        public let runUUID: String
        /// Number of the run in its state directory.
        public let ordinal: UInt64
        /// Where the report stands.
        public let state: State
        /// End of the run; ``Report/End/running`` for a report of a living run; `nil` for a damaged
        /// report.
        public let end: Report.End?
        /// The same for equal crashes.
        public let fingerprint: String
        /// When the report was made; `nil`: a damaged report does not say it.
        public let made: WallInstant?
        /// Requests made so far.
        public let attempts: Int
        /// HTTP status of the last answer; `nil`: there was none.
        public let httpStatus: Int?
        /// When the last attempt was made; `nil`: there was none.
        public let attempted: WallInstant?
        /// Earliest next attempt; `nil`: now.
        public let next: WallInstant?
        /// Why a pending report waits until then; `nil`: it does not.
        public let pause: Pause?
        /// When the report was sent or given up; `nil`: it was not.
        public let settled: WallInstant?
        /// When the program learned of it; `nil`: it did not.
        public let told: WallInstant?
        /// Number of runs with this fingerprint that have no report of their own.
        public let moreRuns: UInt64
        /// Why the last attempt failed, for a person; `nil`: it did not.
        public let error: String?

        /// A report as it is given, for tests.
        public init(
            uuid: String, runUUID: String, ordinal: UInt64, state: State, end: Report.End?, fingerprint: String = "", made: WallInstant? = nil,
            attempts: Int = 0, httpStatus: Int? = nil, attempted: WallInstant? = nil, next: WallInstant? = nil, pause: Pause? = nil,
            settled: WallInstant? = nil, told: WallInstant? = nil, moreRuns: UInt64 = 0, error: String? = nil
        ) {
            self.uuid = uuid
            self.runUUID = runUUID
            self.ordinal = ordinal
            self.state = state
            self.end = end
            self.fingerprint = fingerprint
            self.made = made
            self.attempts = attempts
            self.httpStatus = httpStatus
            self.attempted = attempted
            self.next = next
            self.pause = pause
            self.settled = settled
            self.told = told
            self.moreRuns = moreRuns
            self.error = error
        }
    }

    /// State of a report. Later versions may have more cases, so a `switch` needs an `@unknown
    /// default`.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// To be sent, or to be sent again.
        case pending
        /// A positive answer came.
        case sent
        /// The server refused it; tried again each day, and with other settings.
        case held
        /// Given up, or damaged.
        case dead
        /// A positive answer came, and the program learned of it.
        case told
    }

    /// Why a pending report does not go now. Later versions may have more cases, so a `switch`
    /// needs an `@unknown default`.
    public enum Pause: String, Sendable, Codable, CaseIterable {
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
