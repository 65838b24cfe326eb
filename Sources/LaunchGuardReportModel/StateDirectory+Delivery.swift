// Beside Reader and its extensions the only place of this library that names the C library.
internal import CLaunchGuard

extension StateDirectory {
    /// The reports in the spool, oldest run first: which were sent, and why the others were not. A
    /// directory without a spool has none.
    ///
    /// `lg_delivery_entries()`
    public func deliveries() throws(ReportError) -> [DeliveryEntry] {
        var entries: [lg_delivery_info] = []
        var count: UInt32 = 64
        // The agent may add some between two looks.
        while count > entries.count {
            entries = Array(repeating: lg_delivery_info(), count: Int(count))
            let status = unsafe ReportPath.withCString(path) { unsafe lg_delivery_entries($0, &entries, UInt32(entries.count), &count) }
            if status == LG_ERR_NOT_FOUND { return [] }
            guard status == LG_OK else {
                throw CLibrary.error(status, path: spoolPath)
            }
        }
        return entries.indices.prefix(Int(count)).map { DeliveryEntry(&entries[$0]) }
    }

    /// The folder of the reports.
    public var spoolPath: String { path + "/spool" }
}

extension DeliveryEntry {
    fileprivate init(_ info: inout lg_delivery_info) {
        uuid = string(&info.uuid)
        runUUID = string(&info.run_uuid).nonEmpty
        ordinal = info.ordinal
        state =
            switch info.state {
            case LG_DELIVERY_SENT: .sent
            case LG_DELIVERY_HELD: .held
            case LG_DELIVERY_DEAD: .dead
            case LG_DELIVERY_TOLD: .told
            default: .pending
            }
        end = unsafe info.end == LG_END_NONE ? nil : RunEnd(rawValue: String(cString: lg_end_name(info.end))) ?? .unknown
        fingerprint = string(&info.fingerprint).nonEmpty
        made = info.made_ns.nonZero.map(Timestamp.init)
        attempts = info.attempts
        httpStatus = info.http_status == 0 ? nil : info.http_status
        attempted = info.attempted_ns.nonZero.map(Timestamp.init)
        next = info.next_ns.nonZero.map(Timestamp.init)
        pause =
            switch info.pause {
            case LG_PAUSE_PACED: .paced
            case LG_PAUSE_AWAY: .away
            case LG_PAUSE_BUSY: .busy
            case LG_PAUSE_ASKED: .asked
            case LG_PAUSE_SPENT: .spent
            case LG_PAUSE_BEHIND: .behind
            case LG_PAUSE_METERED: .metered
            default: nil
            }
        settled = info.settled_ns.nonZero.map(Timestamp.init)
        told = info.told_ns.nonZero.map(Timestamp.init)
        more = info.more
        error = string(&info.error).nonEmpty
    }
}
