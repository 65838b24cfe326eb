internal import CLaunchGuard

extension CoreSession {
    var untoldReports: [Report] {
        var reports: [Report] = []
        unsafe withUnsafeMutablePointer(to: &reports) { reports in
            _ = unsafe lg_reports_untold(
                pointer,
                { report, reports in
                    guard let report = unsafe report?.pointee else { return }
                    unsafe reports?.assumingMemoryBound(to: [Report].self).pointee.append(Report(report))
                }, reports)
        }
        return reports
    }

    func markTold(_ ordinal: UInt64) -> Bool { unsafe lg_report_told(pointer, ordinal) == LG_OK }
}
