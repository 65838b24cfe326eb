internal import CLaunchGuard
import LaunchGuard
internal import LaunchGuardPlatform
import Synchronization

/// The switchboard of the core. Only this file calls C.
@safe
struct CoreGuards: @unchecked Sendable {
    /// C: `lg_session *`, which every thread may use.
    private let session: OpaquePointer?
    private let owner: Session

    init(_ session: Session) {
        unsafe self.session = unsafe session.pointer
        owner = session
    }

    /// ``Guards/problem``: the guards are those of the process.
    static let problem = Mutex<LaunchGuardError?>(nil)

    /// Make a call that throws for a mistake in it alone. Guards that the environment kept from
    /// starting are no mistake of the call.
    func degrade(_ call: () throws(LaunchGuardError) -> Void) throws(LaunchGuardError) {
        do throws(LaunchGuardError) {
            try call()
        } catch {
            if error.code == .state, Self.problem.withLock({ $0?.code }) == .system { return }
            guard error.isOfEnvironment else { throw error }
            owner.log(.warning, "guards: \(error)")
            Self.problem.withLock { $0 = error }
        }
    }

    // MARK: Guards that are on

    static func isWorking(_ guardClass: GuardClass) -> Bool { lg_guard_is_working(guardClass.core) != 0 }

    func start(_ configuration: Guards.Configuration) throws(LaunchGuardError) {
        let start = GuardTeller.add(configuration.onEvent)
        var options = unsafe lg_guard_options()
        unsafe options.size = UInt32(MemoryLayout<lg_guard_options>.size)
        // No class and no budget mean the default in C.
        unsafe options.classes = configuration.classes.isEmpty ? .max : bits(configuration.classes)
        unsafe options.policy = configuration.policy.core
        unsafe options.budget = configuration.budget < 1 ? .max : UInt32(clamping: configuration.budget)
        unsafe options.quiet = configuration.isQuiet ? 1 : 0
        unsafe options.user = UnsafeMutableRawPointer(bitPattern: start)
        unsafe options.on_event = { event, start in
            guard let event = unsafe event?.pointee else { return }
            GuardTeller.tell(unsafe GuardEvent(event), of: Int(bitPattern: start))
        }
        let status = unsafe lg_guard_start(session, &options)
        if status == LG_OK || status == LG_ERR_UNPROTECTED { GuardTeller.keep(start) } else { GuardTeller.remove(start) }
        if status == LG_OK { owner.endGuards(by: GuardTeller.finish) }
        try check(status)
        Self.problem.withLock { $0 = nil }
    }

    func stop() {
        _ = unsafe lg_guard_stop(session)
        GuardTeller.finish()
    }

    func setClasses(_ classes: Set<GuardClass>) throws(LaunchGuardError) {
        try check(unsafe lg_guard_set_classes(session, bits(classes)))
    }

    func setPolicy(_ policy: GuardPolicy, _ classes: Set<GuardClass>) throws(LaunchGuardError) {
        try check(unsafe lg_guard_set_policy(session, bits(classes), policy.core))
    }

    func setModules(_ allowed: [String], _ denied: [String]) throws(LaunchGuardError) {
        var lists = unsafe lg_guard_lists()
        unsafe lists.size = UInt32(MemoryLayout<lg_guard_lists>.size)
        unsafe lists.allowed_module_count = UInt32(clamping: allowed.count)
        unsafe lists.denied_module_count = UInt32(clamping: denied.count)
        let status = unsafe withNames(allowed) { allowed in
            unsafe withNames(denied) { denied in
                unsafe lists.allowed_modules = unsafe allowed
                unsafe lists.denied_modules = unsafe denied
                return unsafe lg_guard_set_lists(session, &lists)
            }
        }
        try check(status)
    }

    private func check(_ status: lg_status) throws(LaunchGuardError) { try Session.check(status: status.rawValue) }

    private func bits(_ classes: Set<GuardClass>) -> UInt32 { classes.reduce(0) { $0 | 1 << $1.rawValue } }

    /// A name with a NUL is no file's name: it is handed on as "", which the core refuses.
    private func withNames<Result>(_ names: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        let pointers = unsafe names.map { unsafe UnsafePointer<CChar>(strdup($0.utf8.contains(0) ? "" : $0)) }
        defer {
            for unsafe pointer in unsafe pointers { unsafe free(UnsafeMutableRawPointer(mutating: pointer)) }
        }
        return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }

    // MARK: Memory

    static func read(_ source: UnsafeRawBufferPointer) throws(LaunchGuardError) -> [UInt8] {
        var status = LG_OK
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: source.count) { bytes, count in
            unsafe status = lg_guard_read(bytes.baseAddress, source.baseAddress, source.count, &count)
        }
        try Session.check(status: status.rawValue)
        return bytes
    }

    // MARK: A fault

    /// `lg_guard_claim()` with texts of Swift, each cut at its first NUL. No closures: their frames
    /// would leave no room in the event for those of the program.
    @inline(never)
    static func claim(
        _ guardClass: GuardClass, _ site: UnsafeRawPointer?, _ text: String, _ fields: KeyValuePairs<String, String>
    ) -> Bool {
        let text = unsafe strdup(text)
        let cFields = UnsafeMutablePointer<lg_field>.allocate(capacity: fields.count)
        var count = 0
        for (key, value) in fields {
            unsafe (cFields + count).initialize(to: lg_field(key: strdup(key), value: strdup(value)))
            count += 1
        }
        let isSurvived = unsafe lg_guard_claim(guardClass.core, site, text, cFields, count) != 0
        for index in 0..<count {
            unsafe free(UnsafeMutableRawPointer(mutating: cFields[index].key))
            unsafe free(UnsafeMutableRawPointer(mutating: cFields[index].value))
        }
        unsafe cFields.deallocate()
        unsafe free(text)
        return isSurvived
    }
}

extension GuardClass {
    fileprivate var core: lg_guard_class { lg_guard_class(rawValue) }
}

extension GuardPolicy {
    fileprivate var core: lg_guard_policy { lg_guard_policy(rawValue) }
}

extension GuardEvent {
    fileprivate init(_ event: lg_guard_event) {
        let fields = unsafe UnsafeBufferPointer(start: event.fields, count: event.field_count)
        self.init(
            guardClass: GuardClass(rawValue: unsafe event.guard_class.rawValue),
            action: GuardAction(rawValue: unsafe event.action.rawValue),
            threadID: unsafe event.tid,
            threadName: unsafe characters(event.thread_name),
            time: .nanoseconds(Int64(clamping: unsafe event.time_ns)),
            site: unsafe event.site,
            count: Int(clamping: unsafe event.count),
            skipped: Int(clamping: unsafe event.skipped),
            text: unsafe string(event.text),
            fields: unsafe fields.map { unsafe Field(key: string($0.key), value: string($0.value)) },
            frames: unsafe Array(UnsafeBufferPointer(start: event.frames, count: event.frame_count))
        )
    }
}

private func string(_ bytes: UnsafePointer<CChar>?) -> String {
    guard let bytes = unsafe bytes else { return "" }
    return unsafe String(cString: bytes)
}

/// Text of an array of C that ends at its first NUL.
private func characters<Characters>(_ array: Characters) -> String {
    unsafe withUnsafeBytes(of: array) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
