import LaunchGuardReportModel

extension CommandLine {
    /// The arguments of the program, in which paths need not be text.
    package static var paths: [String] {
        unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst().compactMap { unsafe $0.map { unsafe ReportPath.text(cString: $0) } }
    }
}
