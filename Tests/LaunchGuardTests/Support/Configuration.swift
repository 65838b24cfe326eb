import LaunchGuard

extension Launch.Configuration {
    /// The same with other thresholds, as most tests have them.
    func with(reportAfter: Int = 1, repairAfter: Int, window: Duration) -> Self {
        var other = self
        other.reportAfter = reportAfter
        other.repairAfter = repairAfter
        other.window = window
        return other
    }
}
