internal import CLaunchGuard

/// What LaunchGuardMetrics shows of a living run, from its files.
package struct RunFigures: Sendable {
    /// The launches of the run that were begun, and the length of those that are finished.
    package var launches: [(info: LaunchInfo, nanoseconds: UInt64?)] = []
    /// Breadcrumbs that found no room in the ring log.
    package var refusedBreadcrumbs: UInt64 = 0
}

extension Session {
    /// The figures now; `nil` for a session without files.
    package var figures: RunFigures? {
        guard let stateDirectory, let runPath else { return nil }
        var reader: OpaquePointer?
        guard unsafe lg_reader_open(runPath, &reader) == LG_OK else { return nil }
        defer { unsafe lg_reader_close(reader) }
        var figures = RunFigures()
        var context = lg_run_context()
        while unsafe lg_reader_run_context(reader, UInt32(figures.launches.count), &context) == LG_OK {
            let name = unsafe withUnsafeBytes(of: &context.name) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard let info = try? Core.launchInfo(of: name, stateDirectory: stateDirectory, options: nil) else { break }
            figures.launches.append((info, context.finished_ns > context.begun_ns ? context.finished_ns - context.begun_ns : nil))
        }
        var log = lg_log_info()
        if unsafe lg_reader_log(reader, &log) == LG_OK { figures.refusedBreadcrumbs = log.refused }
        return figures
    }
}
