internal import LaunchGuardPlatform

/// The spool of a state directory: where its reports go, whether they may, and how many there are.
public struct Spool: Codable, Hashable, Sendable {
    /// The folder.
    public var path: String
    /// The user that it belongs to.
    public var userID: UInt32
    /// Whether the user of the program has consented that reports leave the machine.
    public var hasConsent: Bool
    /// Whether the file "off" switches delivery off.
    public var isOff: Bool
    /// Process of the agent, 0 when it is not known; nil: none lives.
    public var agentProcessID: Int32?
    /// "http", "sentry", "otlp" or "minidump"; nil: no program has said where reports go.
    public var target: String?
    /// Name of the server. The rest of the address may hold a secret. nil: not known, or in the
    /// credential file.
    public var host: String?
    /// Reports, by state.
    public var pending = 0, sent = 0, told = 0, held = 0, dead = 0

    /// nil: the directory has none.
    public init?(_ directory: StateDirectory) throws(ReportError) {
        path = directory.spoolPath
        guard let owner = try ReportPath.owner(ofFolder: path) else { return nil }
        userID = owner
        let settings = SpoolSettings(spoolPath: path)
        hasConsent = settings.hasConsent
        isOff = try ReportPath.isFolder(path + "/off") != nil
        if Self.agentLives(in: directory) {
            agentProcessID = ReportPath.firstBytes(of: path + "/agent", 64)?.split(separator: " ").first.flatMap { Int32($0) } ?? 0
        }
        target = settings["target"].map(String.init)
        host = settings["endpoint"].flatMap(Self.host)
        for entry in try directory.deliveries() {
            switch entry.state {
            case .pending: pending += 1
            case .sent: sent += 1
            case .told: told += 1
            case .held: held += 1
            case .dead: dead += 1
            case .owed, .counted, .never: break
            }
        }
    }

    /// Whether an agent serves a state directory.
    public static func agentLives(in directory: StateDirectory) -> Bool { ReportPath.isLocked(directory.spoolPath + "/agent") }

    /// Host and port of an address.
    static func host(of address: Substring) -> String? {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        let authority = address[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return authority.split(separator: "@", omittingEmptySubsequences: false).last.map(String.init)?.nonEmpty
    }

    /// Why nothing can be sent, and what to do; nil: it can.
    public var obstacle: String? {
        if isOff { return "delivery is switched off: delete \(path)/off to switch it on" }
        if target == nil { return "no program has said where reports go: lg_delivery_start() does" }
        if !hasConsent { return "the user has not consented that reports leave the machine: the program stores consent with lg_delivery_consent()" }
        return nil
    }

    /// The spool as text for a person.
    public func write(to writer: inout TextWriter) {
        writer.heading("delivery")
        func field(_ name: String, _ value: String, _ style: TextWriter.Style = .plain) {
            writer.add("  ")
            writer.add(name, width: 10, .dim)
            writer.line(value, style)
        }
        let counts = [(pending, "pending"), (sent, "sent"), (told, "told"), (held, "held"), (dead, "dead")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        field("reports", counts.isEmpty ? "none" : counts.joined(separator: ", "))
        field("target", target.map { "\($0), \(host ?? "the address is in the credential file")" } ?? "none")
        field("consent", hasConsent ? "given" : "not given", hasConsent ? .plain : .yellow)
        field("agent", agentProcessID.map { $0 > 0 ? "process \($0)" : "alive" } ?? "none lives")
        if isOff { field("", "switched off by \(path)/off", .yellow) }
    }
}
