internal import CLaunchGuard

/// The handle of a launch. C: `lg_launch *`, which every thread may use and which stays valid until the process ends; what
/// the callbacks need is therefore never freed either.
@safe
struct CoreLaunch: @unchecked Sendable {
    private let pointer: OpaquePointer?

    static func prepare(
        _ session: OpaquePointer?, _ options: LaunchOptions, _ hooks: LaunchHooks
    ) -> (CoreLaunch, lg_status) {
        var cOptions = unsafe lg_launch_options()
        unsafe cOptions.size = UInt32(MemoryLayout<lg_launch_options>.size)
        unsafe cOptions.report_after = options.reportAfter
        unsafe cOptions.repair_after = options.repairAfter
        unsafe cOptions.unknown_after = options.unknownAfter ?? .max
        unsafe cOptions.window_ms = options.window
        unsafe cOptions.finish = options.finish.core
        unsafe cOptions.report_wait_ms = options.reportWait
        unsafe cOptions.on_report = { batch, done, user in
            guard let batch = unsafe batch?.pointee, let hooks = unsafe Box<LaunchHooks>.value(user) else { return }
            unsafe hooks.startReport(Int(batch.streak), reports(batch), CoreCompletion(done))
        }
        unsafe cOptions.on_status = { _, status, user in
            unsafe Box<LaunchHooks>.value(user)?.statusChanged(LaunchGuard.Status(status))
        }
        unsafe cOptions.user = Unmanaged.passRetained(Box(hooks)).toOpaque()
        var pointer: OpaquePointer?
        let status = unsafe options.name.withCString { unsafe lg_launch_prepare(session, $0, &cOptions, &pointer) }
        return unsafe (CoreLaunch(pointer: pointer), status)
    }

    var status: LaunchGuard.Status { unsafe LaunchGuard.Status(lg_launch_get_status(pointer)) }

    var streak: Int { unsafe Int(lg_launch_streak(pointer)) }

    /// Blocks while reports, repairs and tasks run.
    func begin() -> LaunchGuardError.Code { unsafe LaunchGuardError.Code(lg_launch_begin(pointer)) }

    func finished() -> Bool { unsafe lg_launch_finished(pointer) == LG_OK }

    func addRepair(
        _ options: RepairOptions, _ start: @escaping @Sendable (CoreCompletion) -> Void
    ) throws(LaunchGuardError) {
        let box = unsafe Unmanaged.passRetained(Box(start))
        var repair = unsafe lg_repair()
        unsafe repair.size = UInt32(MemoryLayout<lg_repair>.size)
        unsafe repair.impact = options.impact
        unsafe repair.timeout_ms = options.timeout
        unsafe repair.attempts = options.attempts
        unsafe repair.user = box.toOpaque()
        unsafe repair.run = { done, user in
            unsafe Box<@Sendable (CoreCompletion) -> Void>.value(user)?(CoreCompletion(done))
        }
        let status = unsafe options.name.withCString { name in
            unsafe repair.name = unsafe name
            return unsafe lg_launch_add_repair(pointer, &repair)
        }
        if let error = Core.error(status) {
            unsafe box.release()
            throw error
        }
    }

    func addTask(_ key: String, _ run: @escaping @Sendable () -> LaunchGuardError.Code) throws(LaunchGuardError) {
        let key = try text(key, "key")
        let box = unsafe Unmanaged.passRetained(Box(run))
        var task = unsafe lg_task()
        unsafe task.size = UInt32(MemoryLayout<lg_task>.size)
        unsafe task.user = box.toOpaque()
        unsafe task.run = { user in
            let code = unsafe Box<@Sendable () -> LaunchGuardError.Code>.value(user)?()
            return lg_status(rawValue: (code ?? .argument).rawValue)
        }
        let status = unsafe key.withCString { key in
            unsafe task.key = unsafe key
            return unsafe lg_launch_add_task(pointer, &task)
        }
        if let error = Core.error(status) {
            unsafe box.release()
            throw error
        }
    }
}

/// The answer that a closure owes. C: `lg_completion *`, which any thread may answer, once, twice or late.
@safe
struct CoreCompletion: @unchecked Sendable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { unsafe self.pointer = unsafe pointer }

    func answer(_ code: LaunchGuardError.Code) { unsafe lg_complete(pointer, lg_status(rawValue: code.rawValue)) }
}

/// Carries a Swift value through a `void *`.
private final class Box<Value: Sendable>: Sendable {
    private let value: Value

    init(_ value: Value) { self.value = value }

    static func value(_ user: UnsafeMutableRawPointer?) -> Value? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<Box>.fromOpaque(user).takeUnretainedValue().value
    }
}

private func reports(_ batch: lg_report_batch) -> [LaunchGuard.Report] {
    unsafe UnsafeBufferPointer(start: batch.reports, count: Int(batch.report_count)).map { report in
        unsafe LaunchGuard.Report(
            path: String(cString: report.path),
            uuid: String(cString: report.uuid),
            ordinal: report.ordinal,
            end: LaunchGuard.End(rawValue: String(cString: lg_end_name(report.end))) ?? .unknown,
            signal: report.signal == 0 ? nil : report.signal
        )
    }
}

extension LaunchGuard.Finish {
    fileprivate var core: lg_finish {
        switch self {
        case .either: LG_FINISH_EITHER
        case .mark: LG_FINISH_MARK
        case .time: LG_FINISH_TIME
        case .both: LG_FINISH_BOTH
        }
    }
}

extension LaunchGuard.Status {
    fileprivate init(_ status: lg_launch_status) {
        switch status {
        case LG_LAUNCH_CHECKING: self = .checking
        case LG_LAUNCH_NEEDS_REPAIR: self = .needsRepair
        case LG_LAUNCH_REPAIRING: self = .repairing
        default: self = .normal
        }
    }
}
