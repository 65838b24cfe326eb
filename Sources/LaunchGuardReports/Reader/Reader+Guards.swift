internal import CLaunchGuard

extension Reader {
    /// What guards found; nil: they were never started. What is redacted is still in it.
    func guards(of report: RunReport, withSites: Bool, _ problems: inout Problems) -> GuardRecord? {
        var info = lg_guards_info()
        guard problems.isUsable(unsafe lg_reader_guards(handle, &info), "guards") else { return nil }
        var record = GuardRecord(events: info.events, survived: info.survived)
        guard withSites else { return record }
        let places = Array(1...UInt32(LG_GUARD_SITES_MAX)) + [0]
        record.sites = places.compactMap { site($0, of: report, &problems) }
        return record
    }

    private func site(_ place: UInt32, of report: RunReport, _ problems: inout Problems) -> GuardRecord.Site? {
        var info = lg_guard_info()
        guard problems.isUsable(unsafe lg_reader_guard(handle, place, &info), "guards") else { return nil }
        // Where a guard is a call, its site is a return address.
        func frame(_ address: UInt64) -> Frame { report.frame(at: Address(address), isExact: false) }
        var site = GuardRecord.Site(
            guardClass: info.guard_class.name, action: info.action.name, place: info.site.nonZero.map(frame), events: info.count, survived: info.survived)
        site.lastNanoseconds = info.last_ns.nonZero
        if info.damaged != 0 {
            site.isDamaged = true
            problems.add("guards", LG_ERR_DAMAGED)
        }
        guard info.described != 0 else { return site }
        site.firstNanoseconds = info.first_ns
        site.threadID = info.tid
        site.threadName = string(&info.thread_name).nonEmpty
        site.text = string(&info.text)
        var field = lg_guard_field(), address: UInt64 = 0
        var fields: [Breadcrumb.Field] = [], frames: [Frame] = []
        for number in 0..<info.field_count where unsafe lg_reader_guard_field(handle, place, number, &field) == LG_OK {
            fields.append(Breadcrumb.Field(key: string(&field.key), value: string(&field.value)))
        }
        for number in 0..<info.frame_count where unsafe lg_reader_guard_frame(handle, place, number, &address) == LG_OK {
            frames.append(frame(address))
        }
        site.fields = fields.isEmpty ? nil : fields
        site.frames = frames.isEmpty ? nil : frames
        return site
    }
}

extension lg_guard_class {
    fileprivate var name: GuardRecord.GuardClass? {
        guard self != LG_GUARD_CLASS_NONE else { return nil }
        let name = unsafe String(cString: lg_guard_class_name(self))
        return GuardRecord.GuardClass(rawValue: name == "unknown" ? String(rawValue) : name)
    }
}

extension lg_guard_action {
    fileprivate var name: GuardRecord.Action? {
        guard rawValue != 0 else { return nil }
        let name = unsafe String(cString: lg_guard_action_name(self))
        return GuardRecord.Action(rawValue: name == "unknown" ? String(rawValue) : name)
    }
}
