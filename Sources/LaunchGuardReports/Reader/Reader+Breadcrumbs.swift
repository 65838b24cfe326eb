internal import CLaunchGuard

extension Reader {
    /// A new snapshot of the ring log, without fields that are redacted; texts are as the program
    /// wrote them. `run` gives the entries their times.
    public func breadcrumbs(of run: RunReport) throws(ReportError) -> Breadcrumbs {
        var entries: [Breadcrumb] = []
        var result = try breadcrumbs(of: run) { entries.append($0) }
        result.entries = entries
        return result
    }

    /// The same, each entry handed on and not kept.
    public func breadcrumbs(of run: RunReport, _ take: (consuming Breadcrumb) -> Void) throws(ReportError) -> Breadcrumbs {
        var info = lg_log_info()
        let status = unsafe lg_reader_log(handle, &info)
        guard status == LG_OK else {
            throw CLibrary.error(status, path: path)
        }
        // Asked after the snapshot, which holds all that it is applied to.
        let redaction = redaction()
        let result = Breadcrumbs(
            entries: [], torn: info.torn, overwrittenBytes: info.overwritten_bytes, overwrittenEntries: info.overwritten_entries,
            unknown: info.unknown.nonZero, refused: info.refused.nonZero)
        var entry = lg_log_entry(), field = lg_log_field()
        for index in 0..<info.entries where unsafe lg_reader_log_entry(handle, index, &entry) == LG_OK {
            var breadcrumb = Breadcrumb(&entry, time: run.time(monotonic: entry.monotonic_ns))
            if entry.field_count > 0 {
                var fields: [Breadcrumb.Field] = []
                for number in 0..<entry.field_count where unsafe lg_reader_log_field(handle, index, number, &field) == LG_OK {
                    fields.append(Breadcrumb.Field(&field))
                }
                breadcrumb.fields = fields.isEmpty ? nil : fields
                breadcrumb.redact(redaction)
            }
            take(breadcrumb)
        }
        return result
    }
}

// MARK: - From C values

extension Breadcrumb {
    init(_ entry: inout lg_log_entry, time: Timestamp?) {
        self.init(
            lane: entry.lane, sequence: entry.sequence, monotonicNanoseconds: entry.monotonic_ns, time: time, threadID: entry.tid,
            level: Level(rawValue: entry.level), text: string(&entry.text, size: Int(entry.size)), category: string(&entry.category).nonEmpty,
            isCut: entry.cut != 0, isDamaged: entry.damaged != 0 ? true : nil)
    }
}

extension Breadcrumb.Field {
    init(_ field: inout lg_log_field) {
        self.init(key: string(&field.key, size: Int(field.key_size)), value: string(&field.value, size: Int(field.value_size)))
    }
}
