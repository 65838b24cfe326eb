internal import CLaunchGuard

/// The handle of a session. C: `lg_session *`, which every thread may use.
@safe
struct CoreSession: @unchecked Sendable {
    let pointer: OpaquePointer?
    /// Whether launches can be begun again, in the next simulated run.
    var isSimulated = false

    static func start(
        _ options: StartOptions, _ onLog: (@Sendable (LogLevel, String, String) -> Void)?
    ) -> (CoreSession, LaunchGuardError?) {
        var pointer: OpaquePointer?
        var cOptions = unsafe lg_options()
        unsafe cOptions.size = UInt32(MemoryLayout<lg_options>.size)
        unsafe cOptions.deadline_ms = options.deadline
        unsafe cOptions.handler_ms = options.handlerDeadline
        unsafe cOptions.keep_repeats = options.keepsRepeats ? 1 : 0
        unsafe cOptions.hang_launching_ms = options.hangLaunching
        unsafe cOptions.hang_running_ms = options.hangRunning
        unsafe cOptions.ring_bytes = options.ringBytes
        unsafe cOptions.keep_runs = options.keepRuns
        unsafe cOptions.keep_bytes = options.keepBytes
        unsafe cOptions.stack_bytes = options.stackBytes
        unsafe cOptions.thread_limit = options.threadLimit
        unsafe cOptions.leave_out = options.leaveOut
        unsafe cOptions.keep_stderr = options.keepsStandardError ? 1 : 0
        unsafe cOptions.spare_walk = options.hasSpareWalk ? 1 : 0
        unsafe cOptions.capture = options.capturesSignals ? 0 : UInt32(LG_CAPTURE_NONE)
        unsafe cOptions.keep_command_line = options.keepsCommandLine ? 1 : 0
        // Retained for good: the session has no end while the process lives.
        let hook = unsafe onLog.map { unsafe Unmanaged.passRetained(LogHook($0)) }
        if let hook = unsafe hook {
            unsafe cOptions.on_log = LogHook.callback
            unsafe cOptions.log_user = unsafe hook.toOpaque()
        }
        let status = unsafe options.appID.withCString { appID in
            unsafe options.version.withCString { version in
                unsafe withCString(options.stateDirectory) { directory in
                    unsafe withCString(options.role) { role in
                        unsafe cOptions.app_id = unsafe appID
                        unsafe cOptions.app_version = unsafe version
                        unsafe cOptions.state_directory = unsafe directory
                        unsafe cOptions.role = unsafe role
                        return unsafe lg_start(&cOptions, &pointer)
                    }
                }
            }
        }
        if [LG_ERR_OPTION, LG_ERR_ARGUMENT, LG_ERR_ALREADY, LG_ERR_FORKED].contains(status) { unsafe hook?.release() }
        let session = unsafe CoreSession(pointer: pointer)
        return (session, Core.error(status) { session.message })
    }

    static func simulated() throws(LaunchGuardError) -> CoreSession {
        var pointer: OpaquePointer?
        if let error = Core.error(unsafe lg_simulate_start(&pointer)) { throw error }
        return unsafe CoreSession(pointer: pointer, isSimulated: true)
    }

    var protection: Session.Protection {
        switch unsafe lg_session_protection(pointer) {
        case LG_PROTECTION_FULL: .full
        case LG_PROTECTION_RECORD: .recordOnly
        case LG_PROTECTION_LAUNCH: .launchOnly
        default: .unprotected
        }
    }

    var message: String { unsafe String(cString: lg_session_message(pointer)) }

    var runPath: String? { unsafe path(lg_session_run_path(pointer)) }

    var stateDirectory: String? { unsafe path(lg_session_state_directory(pointer)) }

    /// - Returns: false when no further heartbeat is possible.
    func heartbeat() -> Bool {
        let status = unsafe lg_heartbeat(pointer)
        return status == LG_OK || status == LG_ERR_LIMIT
    }

    func annotate(_ key: String, _ value: String?) -> Bool {
        // A key is not cut, as a cut key would be another one.
        guard !key.utf8.contains(0) else { return false }
        return unsafe key.withCString { key in
            unsafe withCString(value) { unsafe lg_annotate(pointer, key, $0) == LG_OK }
        }
    }

    func redact(_ key: String) -> Bool {
        !key.utf8.contains(0) && (unsafe key.withCString { unsafe lg_redact(pointer, $0) == LG_OK })
    }

    func pauseHeartbeat() { _ = unsafe lg_heartbeat_pause(pointer) }

    /// 0 without a number.
    func beginDeadline(_ name: String, _ limit: Duration) -> UInt64 {
        var deadline: UInt64 = 0
        _ = unsafe lg_deadline_begin(pointer, name, UInt32(clamping: min(max(limit.milliseconds, 1), 86_400_000)), &deadline)
        return deadline
    }

    /// The job is done by the task that runs.
    func takesTask(_ deadline: UInt64) {
        guard deadline != 0 else { return }
        unsafe withUnsafeCurrentTask { task in
            // One word: the address of the task.
            guard let task = unsafe task, unsafe MemoryLayout<UnsafeCurrentTask>.size == MemoryLayout<UnsafeRawPointer>.size else { return }
            _ = unsafe lg_deadline_of_task(pointer, deadline, unsafeBitCast(task, to: UnsafeRawPointer.self))
        }
    }

    func endDeadline(_ deadline: UInt64) {
        if deadline != 0 { _ = unsafe lg_deadline_end(pointer, deadline) }
    }

    func refreshModules() { _ = unsafe lg_modules_refresh(pointer) }

    func announceTermination() { _ = unsafe lg_will_terminate(pointer) }

    func announceRestart() { _ = unsafe lg_will_restart(pointer) }

    func noteCrash(_ type: String) -> Bool { unsafe lg_crash_note(pointer, type) == LG_OK }

    /// - Returns: false in a forked child, and where there is nothing to stop.
    func stop() -> Bool { unsafe lg_stop(pointer) == LG_OK }

    func prepare(_ options: LaunchOptions?, _ hooks: LaunchHooks) -> (launch: CoreLaunch, problem: LaunchGuardError?) {
        let messageBefore = message
        let (launch, status) = unsafe CoreLaunch.prepare(pointer, options, hooks)
        let problem = Core.error(status) {
            // The session keeps one message. The message is about this launch if it is new, or if
            // it gives the reason why nothing is protected.
            message != messageBefore || protection == .unprotected ? message : ""
        }
        return (launch, problem)
    }

    func simulate(_ end: Report.End) -> Bool { unsafe lg_simulate(pointer, end.core) == LG_OK }

    func pass(_ milliseconds: Int64) -> Bool { unsafe lg_simulate_pass(pointer, milliseconds) == LG_OK }

    func closeSimulation() { unsafe lg_simulate_close(pointer) }

    private func path(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text = unsafe text, unsafe text.pointee != 0 else { return nil }
        return unsafe String(cString: text)
    }
}
