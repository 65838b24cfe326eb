extension Session {
    /// The runs that ended badly and that the program has not learned of, oldest first: no
    /// ``Launch/Configuration/onReport`` received the run, and no ``markTold(_:)`` named it. The
    /// list has only runs that are still in the timeline, which holds the last 16 of the primary
    /// process. Empty in a session that counts nothing.
    public var untoldReports: [Report] { core.untoldReports }

    /// A run has reached somebody: ``untoldReports`` no longer has it.
    ///
    /// - Returns: false where the run is not in the timeline any more, and in a session that counts
    ///   nothing.
    @discardableResult
    public func markTold(_ report: Report) -> Bool { core.markTold(report.ordinal) }
}
