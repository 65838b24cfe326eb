/// Importance of a breadcrumb.
public enum LogLevel: UInt32, Sendable, CaseIterable, Comparable {
    /// The finest detail.
    case trace = 10
    /// For finding a mistake.
    case debug = 20
    /// Normal activity of the program.
    case info = 30
    /// Important, but not a problem.
    case notice = 40
    /// A problem may follow.
    case warning = 50
    /// A problem.
    case error = 60
    /// The program cannot do its job.
    case critical = 70

    /// Whether one level is less important than another.
    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
