internal import CLaunchGuard
internal import FoundationEssentials
import LaunchGuardReports
import ToolParts

/// A line of JSON that the C library writes, and what it borrows for that.
@safe final class FleetLine {
    private var lent: [UnsafeMutableRawPointer] = unsafe []
    private var bytes = Data()

    deinit {
        unsafe lent.forEach { unsafe $0.deallocate() }
    }

    private func list<Value>(_ values: [Value]) -> UnsafePointer<Value> {
        let memory = UnsafeMutableBufferPointer<Value>.allocate(capacity: max(1, values.count))
        _ = unsafe memory.initialize(fromContentsOf: values)
        unsafe lent.append(UnsafeMutableRawPointer(memory.baseAddress!))
        return unsafe UnsafePointer(memory.baseAddress!)
    }

    private func text(_ text: String?) -> UnsafePointer<CChar>? {
        unsafe text.map { unsafe list(Array($0.utf8CString)) }
    }

    private func row(_ group: FingerprintGroup) -> lg_fleet_row {
        let change = unsafe group.change.map { change in
            unsafe list([
                unsafe lg_fleet_change(
                    kind: change.kind.number.rawValue, old_runs: UInt64(change.oldRuns), new_runs: UInt64(change.newRuns), old_total: UInt64(change.oldTotal),
                    new_total: UInt64(change.newTotal), old_fingerprint: text(change.oldFingerprint))
            ])
        }
        return unsafe lg_fleet_row(
            fingerprint: text(group.fingerprint), app: text(group.app), ending: text(group.ending), headline: text(group.headline), place: text(group.place),
            runs: UInt64(group.runs), devices: UInt64(group.devices), first_started: text(group.firstStarted), last_started: text(group.lastStarted),
            first_version: text(group.firstVersion), last_version: text(group.lastVersion),
            same_place: group.samePlace.map { unsafe list($0.map { unsafe text($0) } + [nil]) },
            trend: list(group.trend.map { UInt64($0) }), trend_days: group.trend.count, trend_end: text(group.trendEnd), change: change)
    }

    private func parts(_ parts: [ShownFingerprint.Part]) -> UnsafePointer<lg_fleet_part> {
        unsafe list(parts.map { unsafe lg_fleet_part(name: text($0.name), source: text($0.source), runs: UInt64($0.runs), last_started: text($0.lastStarted)) })
    }

    private func written(_ write: (_ sink: lg_report_sink, _ user: UnsafeMutableRawPointer) -> lg_status) throws(FleetError) -> String {
        let status = unsafe write(
            { bytes, size, user in
                guard let bytes = unsafe bytes, let user = unsafe user else { return 1 }
                let line = unsafe Unmanaged<FleetLine>.fromOpaque(user).takeUnretainedValue()
                unsafe line.bytes.append(UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: size)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        guard status == LG_OK else { throw FleetError("standard output", unsafe String(cString: lg_status_message(status)), .nothingFound) }
        return JSONLine.escaped(String(decoding: bytes, as: UTF8.self)) + "\n"
    }

    /// C: `lg_fleet_row_report()`.
    static func text(_ group: FingerprintGroup) throws(FleetError) -> String {
        let line = FleetLine()
        var row = unsafe line.row(group)
        return unsafe try line.written { sink, user in unsafe lg_fleet_row_report(&row, sink, user) }
    }

    /// C: `lg_fleet_example_report()`.
    static func text(_ shown: ShownFingerprint) throws(FleetError) -> String {
        let line = FleetLine()
        var example = unsafe lg_fleet_example(
            group: line.list([line.row(shown.group)]), versions: line.parts(shown.versions), devices: line.parts(shown.devices),
            version_count: shown.versions.count, device_count: shown.devices.count, device: line.text(shown.device),
            run: line.text(String(JSONLine.text(shown.example).dropFirst().dropLast())))
        return unsafe try line.written { sink, user in unsafe lg_fleet_example_report(&example, sink, user) }
    }
}

extension VersionChange.Kind {
    fileprivate var number: lg_fleet_change_kind {
        switch self {
        case .new: LG_FLEET_CHANGE_NEW
        case .more: LG_FLEET_CHANGE_MORE
        case .gone: LG_FLEET_CHANGE_GONE
        case .less: LG_FLEET_CHANGE_LESS
        case .same: LG_FLEET_CHANGE_SAME
        }
    }
}
