internal import CLaunchGuard

/// Options of delivery in the form that C needs. Their numbers are checked here, because zero
/// stands for "default" in C and is a mistake here. The core checks the texts.
struct DeliveryOptions {
    let target: Delivery.Target
    let endpoint: String?
    let credentialFile: String?
    let certificateFile: String?
    let hintKey: String?
    let agentPath: String?
    let consent: Delivery.Consent?
    let ends: UInt32
    let keepReports: UInt32
    let keepBytes: UInt64
    let dailyBytes: UInt64
    let isBrief: Bool
    let keepsHomeDirectories: Bool
    let compressesAlways: Bool
    let sendsReleaseHealth: Bool

    init(_ configuration: Delivery.Configuration) throws(LaunchGuardError) {
        target = configuration.target
        let address =
            switch configuration.target {
            case .http(let address), .sentry(let address), .otlp(let address), .minidump(let address): address
            }
        endpoint = if let address { try text(address, "the address of target") } else { nil }
        credentialFile = if let file = configuration.credentialFile { try text(file, "credentialFile") } else { nil }
        hintKey = if let key = configuration.hintKey { try text(key, "hintKey") } else { nil }
        certificateFile = if let file = configuration.certificateFile { try text(file, "certificateFile") } else { nil }
        agentPath = if let path = configuration.agentPath { try text(path, "agentPath") } else { nil }
        consent = configuration.consent
        // LG_DELIVERY_UNKNOWN_IN_LAUNCH
        let inLaunch: UInt32 = configuration.reportsUnknownInLaunch ? 1 << 31 : 0
        ends = configuration.ends.reduce(inLaunch) { $0 | 1 << $1.core.rawValue }
        guard ends != 0 else { throw LaunchGuardError(.option, "ends is empty; name at least one end") }
        keepReports = try number(configuration.keepReports, "keepReports", in: 1...4096)
        keepBytes = try number(configuration.keepBytes, "keepBytes", in: 65536...UInt64(Int.max))
        dailyBytes = try number(configuration.dailyBytes, "dailyBytes", in: 8192...UInt64(Int.max))
        isBrief = configuration.isBrief
        keepsHomeDirectories = configuration.keepsHomeDirectories
        compressesAlways = configuration.compressesAlways
        sendsReleaseHealth = configuration.sendsReleaseHealth
    }

    /// In milliseconds; 0 for the default.
    static func waitLimit(_ limit: Duration?) throws(LaunchGuardError) -> UInt32 {
        if let limit { try number(limit.milliseconds, "limit in ms", in: 1...5000) } else { 0 }
    }
}
