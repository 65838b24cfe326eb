import LaunchGuardReportModel

/// The key of the bug that a run ended by. This is the one place where a row gets its key.
struct RowKey: Hashable, Sendable {
    /// 32 hexadecimal digits: the bug key, or the coarse one. The application is in both.
    let key: String
    /// The coarse key, if `key` is by names: that of the same run where its functions have none.
    let nameless: String?

    /// Nil: the run has no key.
    init?(_ run: RunReport, coarse: String?) {
        let named = run.bugKey(coarse: nil)
        guard let key = named ?? coarse else { return nil }
        (self.key, nameless) = (key, named == nil ? nil : coarse)
    }
}
