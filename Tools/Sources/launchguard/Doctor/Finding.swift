#if os(Linux)
import LaunchGuardReportModel

/// One thing that weakens what LaunchGuard promises, and its remedy.
struct Finding: Encodable {
    let schema = RunReport.currentSchema
    let type = "finding"
    let severity: Severity
    /// Short and stable, for example "directory.owner".
    let code: String
    let problem: String
    let remedy: String

    enum Severity: String, Encodable, Comparable {
        /// Worth knowing; no promise is weaker.
        case note
        /// Some records or counters will lack something.
        case warning
        /// Nothing will be recorded, or nothing will be counted.
        case error

        static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int { self == .note ? 0 : self == .warning ? 1 : 2 }

        var style: TextWriter.Style { self == .note ? .dim : self == .warning ? .yellow : .red }
    }

    init(_ severity: Severity, _ code: String, _ problem: String, _ remedy: String) {
        self.severity = severity
        self.code = code
        self.problem = problem
        self.remedy = remedy
    }

    func write(to writer: inout TextWriter) {
        writer.add(severity.rawValue, width: 9, severity.style)
        writer.line("\(problem) [\(code)]")
        writer.line("         \(remedy)", .dim)
    }
}
#endif
