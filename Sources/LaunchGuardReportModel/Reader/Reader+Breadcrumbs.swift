internal import CLaunchGuard

extension Reader {
    /// A new snapshot of the ring log, without redacted values, also in texts. `run` gives the
    /// entries their times.
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
        // Read after the snapshot, which holds all that they are applied to.
        let secrets = try Secrets(self, info)
        let result = Breadcrumbs(
            entries: [], torn: info.torn, overwrittenBytes: info.overwritten_bytes, overwrittenEntries: info.overwritten_entries,
            unknown: info.unknown.nonZero, refused: info.refused.nonZero)
        var entry = lg_log_entry(), field = lg_log_field()
        for index in 0..<info.entries where unsafe lg_reader_log_entry(handle, index, &entry) == LG_OK {
            var breadcrumb = Breadcrumb(&entry, time: run.time(monotonic: entry.monotonic_ns), without: secrets)
            if entry.field_count > 0 {
                var fields: [Breadcrumb.Field] = []
                for number in 0..<entry.field_count where unsafe lg_reader_log_field(handle, index, number, &field) == LG_OK {
                    fields.append(Breadcrumb.Field(&field, without: secrets))
                }
                breadcrumb.fields = fields.isEmpty ? nil : fields
            }
            take(breadcrumb)
        }
        return result
    }
}

// MARK: - From C values

extension Breadcrumb {
    init(_ entry: inout lg_log_entry, time: Timestamp?, without secrets: Secrets) {
        self.init(
            lane: entry.lane, sequence: entry.sequence, monotonicNanoseconds: entry.monotonic_ns, time: time, threadID: entry.tid,
            level: Level(rawValue: entry.level), text: secrets.string(&entry.text, size: Int(entry.size)), category: secrets.string(&entry.category).nonEmpty,
            isCut: entry.cut != 0, isDamaged: entry.damaged != 0 ? true : nil)
    }
}

extension Breadcrumb.Field {
    init(_ field: inout lg_log_field, without secrets: Secrets) {
        self.init(
            key: secrets.string(&field.key, size: Int(field.key_size)),
            value: secrets.hides(&field.key) ? nil : secrets.string(&field.value, size: Int(field.value_size)))
    }
}
