internal import CLaunchGuard

extension CoreSession {
    func startDelivery(_ options: DeliveryOptions, _ told: DeliveryBroadcast) throws(LaunchGuardError) {
        var cOptions = unsafe lg_delivery_options()
        unsafe cOptions.size = UInt32(MemoryLayout<lg_delivery_options>.size)
        unsafe cOptions.target = options.target.core
        unsafe cOptions.ends = options.ends
        unsafe cOptions.consent = options.consent.core
        unsafe cOptions.keep_reports = options.keepReports
        unsafe cOptions.keep_bytes = options.keepBytes
        unsafe cOptions.daily_bytes = options.dailyBytes
        unsafe cOptions.brief = options.isBrief ? 1 : 0
        unsafe cOptions.keep_home = options.keepsHomeDirectories ? 1 : 0
        unsafe cOptions.compress = options.compressesAlways ? 1 : 0
        unsafe cOptions.release_health = options.sendsReleaseHealth ? 1 : 0
        // Retained for good where the call succeeds: the session has no end while the process
        // lives.
        let hook = unsafe Unmanaged.passRetained(told)
        unsafe cOptions.on_delivered = { entry, hook in
            guard let entry = unsafe entry?.pointee, let hook = unsafe hook else { return }
            unsafe Unmanaged<DeliveryBroadcast>.fromOpaque(hook).takeUnretainedValue().publish(Delivery.Entry(entry))
        }
        unsafe cOptions.user = unsafe hook.toOpaque()
        let messageBefore = message
        let status = unsafe withCString(options.endpoint) { endpoint in
            unsafe withCString(options.credentialFile) { credentialFile in
                unsafe withCString(options.certificateFile) { certificateFile in
                    unsafe withCString(options.agentPath) { agentPath in
                        unsafe withCString(options.hintKey) { hintKey in
                            unsafe cOptions.endpoint = unsafe endpoint
                            unsafe cOptions.credential_file = unsafe credentialFile
                            unsafe cOptions.ca_file = unsafe certificateFile
                            unsafe cOptions.agent_path = unsafe agentPath
                            unsafe cOptions.hint_key = unsafe hintKey
                            return unsafe lg_delivery_start(pointer, &cOptions)
                        }
                    }
                }
            }
        }
        if status != LG_OK && status != LG_ERR_NO_AGENT || isSimulated { unsafe hook.release() }
        if let error = Core.error(status, { message != messageBefore ? message : "" }) { throw error }
    }

    func setDeliveryConsent(_ consent: Delivery.Consent) throws(LaunchGuardError) {
        if let error = unsafe Core.error(lg_delivery_consent(pointer, (consent as Delivery.Consent?).core)) { throw error }
    }

    func requestDelivery(_ reason: String) throws(LaunchGuardError) -> String {
        var uuid = [CChar](repeating: 0, count: 37)
        let status = unsafe uuid.withUnsafeMutableBufferPointer { uuid in
            unsafe reason.withCString { unsafe lg_delivery_report_now(pointer, $0, uuid.baseAddress) }
        }
        if let error = Core.error(status) { throw error }
        return String(decoding: uuid.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func waitForDelivery(_ ms: UInt32) -> Result<Delivery.WaitResult, LaunchGuardError> {
        var result = LG_DELIVERY_NOTHING
        let status = unsafe lg_delivery_wait(pointer, ms, nil, nil, &result)
        if let error = Core.error(status) { return .failure(error) }
        return .success(Delivery.WaitResult(result))
    }
}

extension Core {
    static func deliveryEntries(stateDirectory: String) throws(LaunchGuardError) -> [Delivery.Entry] {
        let stateDirectory = try text(stateDirectory, "stateDirectory")
        var entries: [lg_delivery_info] = [], count: UInt32 = 0
        // The agent may add reports between two calls.
        repeat {
            entries = Array(repeating: lg_delivery_info(), count: Int(count))
            let status = unsafe entries.withUnsafeMutableBufferPointer { entries in
                unsafe stateDirectory.withCString { unsafe lg_delivery_entries($0, entries.baseAddress, UInt32(entries.count), &count) }
            }
            if status == LG_ERR_NOT_FOUND { return [] }
            if let error = error(status) { throw error }
        } while Int(count) > entries.count
        return entries.prefix(Int(count)).map(Delivery.Entry.init)
    }
}

extension Delivery.Entry {
    fileprivate init(_ entry: lg_delivery_info) {
        let error = characters(entry.error)
        self.init(
            uuid: characters(entry.uuid),
            runUUID: characters(entry.run_uuid),
            ordinal: entry.ordinal,
            state: Delivery.State(entry.state),
            end: entry.end == LG_END_NONE ? nil : Report.End(entry.end),
            fingerprint: characters(entry.fingerprint),
            made: WallInstant(nanoseconds: entry.made_ns),
            attempts: Int(entry.attempts),
            httpStatus: entry.http_status == 0 ? nil : Int(entry.http_status),
            attempted: WallInstant(nanoseconds: entry.attempted_ns),
            next: WallInstant(nanoseconds: entry.next_ns),
            pause: Delivery.Pause(entry.pause),
            settled: WallInstant(nanoseconds: entry.settled_ns),
            told: WallInstant(nanoseconds: entry.told_ns),
            moreRuns: entry.more,
            error: error.isEmpty ? nil : error
        )
    }
}

extension Delivery.State {
    fileprivate init(_ state: lg_delivery_state) {
        switch state {
        case LG_DELIVERY_PENDING: self = .pending
        case LG_DELIVERY_SENT: self = .sent
        case LG_DELIVERY_HELD: self = .held
        case LG_DELIVERY_TOLD: self = .told
        default: self = .dead
        }
    }
}

extension Delivery.Pause {
    fileprivate init?(_ pause: lg_delivery_pause) {
        switch pause {
        case LG_PAUSE_PACED: self = .paced
        case LG_PAUSE_AWAY: self = .away
        case LG_PAUSE_BUSY: self = .busy
        case LG_PAUSE_ASKED: self = .asked
        case LG_PAUSE_SPENT: self = .spent
        case LG_PAUSE_BEHIND: self = .behind
        case LG_PAUSE_METERED: self = .metered
        default: return nil
        }
    }
}

extension Delivery.WaitResult {
    fileprivate init(_ result: lg_delivery_result) {
        switch result {
        case LG_DELIVERY_DELIVERED: self = .delivered
        case LG_DELIVERY_HANDED_OVER: self = .handedOver
        case LG_DELIVERY_TIMEOUT: self = .timeout
        default: self = .nothing
        }
    }
}

extension Delivery.Target {
    fileprivate var core: lg_delivery_target {
        switch self {
        case .http: LG_TARGET_HTTP
        case .sentry: LG_TARGET_SENTRY
        case .otlp: LG_TARGET_OTLP
        case .minidump: LG_TARGET_MINIDUMP
        }
    }
}

extension Delivery.Consent? {
    fileprivate var core: lg_consent {
        switch self {
        case nil: LG_CONSENT_KEPT
        case .given: LG_CONSENT_GIVEN
        case .withheld: LG_CONSENT_WITHHELD
        }
    }
}
