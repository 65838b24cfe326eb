extension Launch {
    /// What ``Launch/Configuration/onReport`` receives. C: `lg_report_batch`.
    public struct ReportBatch: Hashable, Sendable {
        /// Name of the launch's context.
        public var context: String
        /// Consecutive launch crashes; 0 where only unexplained deaths or ends after a launch are
        /// reported.
        public var streak: Int
        /// The runs since the last report that counted, oldest first. They may be fewer than the
        /// crashes when files are gone, and more with unexplained deaths and ends after a launch.
        public var reports: [Report]

        /// A batch as it is given, for tests of the closure.
        public init(context: String, streak: Int, reports: [Report]) {
            self.context = context
            self.streak = streak
            self.reports = reports
        }
    }
}
