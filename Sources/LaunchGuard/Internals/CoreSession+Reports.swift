internal import CLaunchGuard

extension CoreSession {
    var untoldReports: [LaunchGuard.Report] {
        var reports: [LaunchGuard.Report] = []
        unsafe withUnsafeMutablePointer(to: &reports) { reports in
            _ = unsafe lg_reports_untold(
                pointer,
                { report, reports in
                    guard let report = unsafe report?.pointee else { return }
                    unsafe reports?.assumingMemoryBound(to: [LaunchGuard.Report].self).pointee.append(LaunchGuard.Report(report))
                }, reports)
        }
        return reports
    }

    func markTold(_ ordinal: UInt64) -> Bool { unsafe lg_report_told(pointer, ordinal) == LG_OK }
}
