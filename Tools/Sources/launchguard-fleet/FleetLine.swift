internal import CLaunchGuard
internal import FoundationEssentials
import LaunchGuardReportModel
import ToolBase
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

    private func row(_ group: BugGroup) -> lg_fleet_row {
        unsafe lg_fleet_row(
            bug: text(group.bug), app: text(group.app), ending: text(group.ending), kind: text(group.kind), headline: text(group.headline), place: text(group.place),
            runs: UInt64(group.runs), total: UInt64(group.total), devices: UInt64(group.devices), first_started: text(group.firstStarted), last_started: text(group.lastStarted),
            fingerprints: list(group.fingerprints.map { unsafe text($0) } + [nil]), versions: parts(group.versions), version_count: group.versions.count,
            state: text(group.state), resolved_in: text(group.decision?.version), again_in: text(group.again?.name),
            trend: list(group.trend.map { UInt64($0) }), trend_days: group.trend.count, trend_end: text(group.trendEnd),
            recent: group.recent.map { unsafe change($0) }, change: group.change.map { unsafe change($0) })
    }

    private func change(_ change: Change) -> UnsafePointer<lg_fleet_change> {
        func percent(_ value: Double) -> UInt64 { UInt64(clamping: Int64(min(value * 100, 1e15).rounded())) }
        return unsafe list([
            lg_fleet_change(
                kind: change.kind.number.rawValue, old_count: UInt64(change.old), new_count: UInt64(change.new), old_total: UInt64(change.oldTotal),
                new_total: UInt64(change.newTotal), ratio_low: percent(change.ratio.low), ratio_high: change.ratio.high.map { max(1, percent($0)) } ?? 0)
        ])
    }

    private func parts(_ parts: [BugGroup.Part]) -> UnsafePointer<lg_fleet_part> {
        unsafe list(
            parts.map { part in
                unsafe lg_fleet_part(
                    name: text(part.name), source: text(part.source), runs: UInt64(part.runs), devices: UInt64(part.devices),
                    first_started: text(part.firstStarted), last_started: text(part.lastStarted))
            })
    }

    private func traits(_ traits: [Trait]) -> UnsafePointer<lg_fleet_trait> {
        unsafe list(
            traits.map { trait in
                unsafe lg_fleet_trait(
                    name: text(trait.name), value: text(trait.value), runs: UInt64(trait.runs), total: UInt64(trait.total),
                    other_runs: UInt64(trait.otherRuns), other_total: UInt64(trait.otherTotal))
            })
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
    static func text(_ group: BugGroup) throws(FleetError) -> String {
        let line = FleetLine()
        var row = unsafe line.row(group)
        return unsafe try line.written { sink, user in unsafe lg_fleet_row_report(&row, sink, user) }
    }

    /// C: `lg_fleet_example_report()`.
    static func text(_ shown: ShownBug) throws(FleetError) -> String {
        let line = FleetLine()
        var example = unsafe lg_fleet_example(
            group: line.list([line.row(shown.group)]), devices: line.parts(shown.devices), device_count: shown.devices.count,
            traits: line.traits(shown.traits), trait_count: shown.traits.count, device: line.text(shown.device),
            run: line.text(String(JSONLine.text(shown.example).dropFirst().dropLast())))
        return unsafe try line.written { sink, user in unsafe lg_fleet_example_report(&example, sink, user) }
    }
}

extension Change.Kind {
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
