internal import CLaunchGuard

/// The handle of a launch. C: `lg_launch *`, which every thread may use and which stays valid until
/// the process ends. The objects that the callbacks need are therefore never freed either. They
/// keep no closure of the program: those are in the hooks, which free them when the launch is over.
@safe
struct CoreLaunch: @unchecked Sendable {
    let pointer: OpaquePointer?

    /// Without options, which is the case for options that make no sense, the core makes the launch
    /// unprotected: the launch then has no name.
    static func prepare(
        _ session: OpaquePointer?, _ options: LaunchOptions?, _ hooks: LaunchHooks
    ) -> (CoreLaunch, lg_status) {
        var cOptions = unsafe lg_launch_options(options)
        let closures = hooks.closures
        if closures.onReport != nil {
            unsafe cOptions.on_report = { batch, done, user in
                guard let batch = unsafe batch?.pointee, let hooks = unsafe Box<LaunchHooks>.value(user) else { return }
                unsafe hooks.runReport(Launch.ReportBatch(batch), CoreCompletion(done))
            }
        }
        if closures.onDecide != nil {
            unsafe cOptions.on_decide = { info, last, user in
                guard let info = unsafe info?.pointee, let hooks = unsafe Box<LaunchHooks>.value(user) else { return LG_DECISION_BY_RULE }
                var decided = LaunchInfo(info)
                decided.lastReport = unsafe (last?.pointee).map { unsafe Report($0) }
                return hooks.decide(decided).core
            }
        }
        if closures.onGiveUp != nil {
            unsafe cOptions.on_give_up = { launch, hold, done, user in
                unsafe Box<LaunchHooks>.value(user)?.runGiveUp(CoreHold(CoreLaunch(pointer: launch), hold), CoreCompletion(done))
            }
        }
        if closures.onHold != nil {
            unsafe cOptions.on_hold = { launch, held, user in
                guard let held = unsafe held?.pointee, let hooks = unsafe Box<LaunchHooks>.value(user) else { return }
                unsafe hooks.runHold(CoreHold(CoreLaunch(pointer: launch), held.hold), Launch.Hold.Reason(held))
            }
        }
        unsafe cOptions.on_status = { launch, status, user in
            unsafe Box<LaunchHooks>.value(user)?.statusChanged(Launch.Status(status, now: lg_launch_get_state(launch)), of: CoreLaunch(pointer: launch))
        }
        unsafe cOptions.user = Unmanaged.passRetained(Box(hooks)).toOpaque()
        var pointer: OpaquePointer?
        let status = unsafe (options?.name ?? "").withCString { name in
            unsafe withCString(options?.killSwitch) { killSwitch in
                unsafe withCStrings(options?.modules ?? []) { modules in
                    unsafe cOptions.kill_switch = unsafe killSwitch
                    unsafe cOptions.modules = unsafe modules
                    return unsafe lg_launch_prepare(session, name, &cOptions, &pointer)
                }
            }
        }
        return unsafe (CoreLaunch(pointer: pointer), status)
    }

    var status: Launch.Status { unsafe Launch.Status(lg_launch_get_state(pointer)) }

    var streak: Int { unsafe Int(lg_launch_streak(pointer)) }

    var info: LaunchInfo? {
        var info = lg_launch_info()
        info.size = UInt32(MemoryLayout<lg_launch_info>.size)
        return unsafe lg_launch_get_info(pointer, &info) == LG_OK ? LaunchInfo(info) : nil
    }

    /// Blocks while reports, repairs and tasks run.
    func begin() -> LaunchGuardError.Code { unsafe LaunchGuardError.Code(lg_launch_begin(pointer)) }

    /// Blocks; the largest number means no limit.
    func wait(milliseconds: UInt32) -> LaunchGuardError.Code {
        unsafe LaunchGuardError.Code(lg_launch_wait(pointer, milliseconds))
    }

    func protect(_ reason: String?) -> Bool {
        unsafe withCString(reason) { unsafe lg_launch_protect(pointer, $0) == LG_OK }
    }

    /// The launch goes on without a repair, wherever it is held.
    func putOff() { if unsafe lg_launch_skip(pointer) != LG_OK { _ = unsafe lg_launch_try_safe(pointer) } }

    func finish() -> Bool { unsafe lg_launch_finished(pointer) == LG_OK }

    func addRepair(
        _ rung: Rung, _ run: @escaping @Sendable (CoreCompletion) -> Void
    ) throws(LaunchGuardError) {
        let box = unsafe Unmanaged.passRetained(Box(run))
        var repair = unsafe lg_repair()
        unsafe repair.size = UInt32(MemoryLayout<lg_repair>.size)
        unsafe repair.impact = rung.impact
        unsafe repair.timeout_ms = rung.timeout
        unsafe repair.attempts = rung.attempts
        unsafe repair.flags = rung.flags
        unsafe repair.user = box.toOpaque()
        unsafe repair.run = { done, user in
            unsafe Box<@Sendable (CoreCompletion) -> Void>.value(user)?(CoreCompletion(done))
        }
        let status = unsafe rung.name.withCString { name in
            unsafe repair.name = unsafe name
            return unsafe lg_launch_add_repair(pointer, &repair)
        }
        if let error = Core.error(status) {
            unsafe box.release()
            throw error
        }
    }
}

/// One hold of a launch. Its answers apply to no other one. C: `lg_launch_answer()`.
struct CoreHold: Sendable {
    private let launch: CoreLaunch
    private let number: UInt32

    init(_ launch: CoreLaunch, _ number: UInt32) { (self.launch, self.number) = (launch, number) }

    func repair() -> Bool { answer(LG_ANSWER_REPAIR) }

    func refuse() -> Bool { answer(LG_ANSWER_REFUSE) }

    func skip() -> Bool { answer(LG_ANSWER_SKIP) }

    func repaired() -> Bool { answer(LG_ANSWER_REPAIRED) }

    func trySafeMode() -> Bool { answer(LG_ANSWER_TRY_SAFE) }

    private func answer(_ answer: lg_answer) -> Bool { unsafe lg_launch_answer(launch.pointer, number, answer) == LG_OK }
}

/// The answer that a closure owes. C: `lg_completion *`, which any thread may answer, once, twice
/// or late.
@safe
struct CoreCompletion: @unchecked Sendable {
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { unsafe self.pointer = unsafe pointer }

    /// That of the repair whose closure runs.
    @TaskLocal static var ofRepair: CoreCompletion?

    static func current() throws(LaunchGuardError) -> CoreCompletion {
        guard let ofRepair else { throw LaunchGuardError(.state, "only the closure of a repair may call this") }
        return ofRepair
    }

    func keep(_ path: String) throws(LaunchGuardError) {
        let path = try text(path, "path")
        if let error = Core.error(unsafe path.withCString { unsafe lg_completion_keep(pointer, $0) }) { throw error }
    }

    func undo() throws(LaunchGuardError) {
        if let error = unsafe Core.error(lg_completion_undo(pointer)) { throw error }
    }

    func answer(_ code: LaunchGuardError.Code) { unsafe lg_complete(pointer, lg_status(rawValue: code.rawValue)) }

    /// Returns when the repair is answered, has timed out, or the program ends.
    func waitUntilUnwanted() { unsafe lg_completion_wait_unwanted(pointer) }

    /// The reason goes into the log, and that of a repair into the ledger.
    func fail(_ reason: String) { unsafe lg_complete_text(pointer, LG_ERR_FAILED, reason) }
}

/// Carries a Swift value through a `void *`.
final class Box<Value: Sendable>: Sendable {
    private let value: Value

    init(_ value: Value) { self.value = value }

    static func value(_ user: UnsafeMutableRawPointer?) -> Value? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<Box>.fromOpaque(user).takeUnretainedValue().value
    }
}
