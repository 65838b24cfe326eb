import ArgumentParser
import LaunchGuard

/// A repair of the simulated launch: `NAME[:IMPACT[:FLAG,…]]`.
struct SimulatedRepair: Sendable, Encodable {
    var name: String
    var impact = 0
    var attempts = 2
    var isDestructive = false
    var needsConsent = false
    var needsRestart = false

    /// Time for one attempt: the default of the library.
    static let timeout = Duration.seconds(30)

    static let usual = [SimulatedRepair(name: "repair A", impact: 10), SimulatedRepair(name: "repair B", impact: 50)]

    init(name: String, impact: Int) {
        self.name = name
        self.impact = impact
    }

    init(_ text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 3, !parts[0].isEmpty else {
            throw ValidationError("\"\(text)\" is not a repair; write NAME, NAME:IMPACT or NAME:IMPACT:FLAG,…")
        }
        name = parts[0]
        if parts.count > 1, !parts[1].isEmpty {
            guard let impact = Int(parts[1]), 0...100 ~= impact else {
                throw ValidationError("\"\(text)\": the impact \"\(parts[1])\" is not a number from 0 to 100.")
            }
            self.impact = impact
        }
        for flag in parts.count > 2 ? parts[2].split(separator: ",") : [] {
            try add(String(flag), text)
        }
    }

    private mutating func add(_ flag: String, _ text: String) throws {
        switch flag {
        case "destructive": isDestructive = true
        case "consent": needsConsent = true
        case "restart": needsRestart = true
        default:
            guard flag.hasPrefix("attempts="), let count = Int(flag.dropFirst("attempts=".count)), 1...100 ~= count else {
                throw ValidationError(
                    "\"\(text)\": there is no flag \"\(flag)\"; flags are destructive, consent, restart and attempts=COUNT, from 1 to 100.")
            }
            attempts = count
        }
    }

    var options: Launch.RepairOptions {
        var options: Launch.RepairOptions = []
        if isDestructive { options.insert(.destructive) }
        if needsConsent { options.insert(.consent) }
        if needsRestart { options.insert(.needsRestart) }
        return options
    }
}
