#if os(Linux)
import ArgumentParser
import LaunchGuardPlatform

/// Options of a program that is started again when it fails.
package struct RestartOptions: ParsableArguments {
    @Flag(name: .customLong("restart"), help: "Start the program again when it fails, as the launch machine decides.")
    package var isOn = false

    @Option(help: ArgumentHelp("The time after which a launch is over; with a check, the time that the check may take. (default: 5; with a check 60)", valueName: "seconds"))
    var launchWindow: Double?

    @Option(help: ArgumentHelp("What ends a launch: tcp:[HOST:]PORT, file:PATH or command:COMMAND.", valueName: "check"))
    var launchCheck: LaunchCheck?

    @Option(help: ArgumentHelp("The command for /bin/sh that gets the run files of new launch crashes as arguments, before a start.", valueName: "command"))
    var report: String?

    @Option(help: ArgumentHelp("A repair, a command for /bin/sh; the first one is tried first.", valueName: "name=command"))
    var repair: [Repair] = []

    @Option(help: ArgumentHelp("The time of one repair.", valueName: "seconds"))
    var repairTime: Double = 30

    @Option(help: ArgumentHelp("Launch crashes in a row from which repairs are tried.", valueName: "count"))
    var repairAfter: UInt32 = 2

    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("An argument that safe mode adds; LAUNCHGUARD_SAFE_MODE is 1 there.", valueName: "argument"))
    var safeArgument: [String] = []

    @Option(help: ArgumentHelp("The pause before the first new start; it doubles while launches fail, up to 60 times.", valueName: "seconds"))
    var restartDelay: Double = 1

    @Option(help: ArgumentHelp("The exit status where nothing is left to try.", valueName: "status"))
    var giveUpStatus: UInt8 = 78

    /// One `--repair`.
    struct Repair: ExpressibleByArgument {
        let name: String
        let command: String

        init?(argument: String) {
            guard let equals = argument.firstIndex(of: "=") else { return nil }
            name = String(argument[..<equals])
            command = String(argument[argument.index(after: equals)...])
            guard !name.isEmpty, name.utf8.count <= 63, !command.isEmpty else { return nil }
        }
    }

    /// Seconds of the launch, or of the check.
    var window: Double { launchWindow ?? (launchCheck == nil ? 5 : 60) }

    package init() {}

    package func validate() throws {
        let needsRestart = launchWindow != nil || launchCheck != nil || report != nil || !repair.isEmpty || !safeArgument.isEmpty
        guard isOn || !needsRestart else { throw ValidationError("launch checks, reports, repairs and safe mode need --restart.") }
        guard window >= 0.001, window <= 86400 else { throw ValidationError("--launch-window takes 0.001 to 86400 seconds.") }
        guard repairTime >= 0.001, repairTime <= 86400 else { throw ValidationError("--repair-time takes 0.001 to 86400 seconds.") }
        guard restartDelay >= 0, restartDelay <= 3600 else { throw ValidationError("--restart-delay takes 0 to 3600 seconds.") }
        guard repairAfter >= 1 else { throw ValidationError("--repair-after takes at least 1.") }
        guard repair.count <= 16 else { throw ValidationError("there can be 16 repairs.") }
        guard Set(repair.map(\.name)).count == repair.count else { throw ValidationError("two repairs have one name.") }
        guard safeArgument.count <= 32 else { throw ValidationError("safe mode can add 32 arguments.") }
    }

    /// LAUNCHGUARD_LAUNCH for the preload library. The first start of all is that of a person, and
    /// makes one try where the launch was given up before.
    func plan(isFirst: Bool, isQuiet: Bool, preload: String?) -> String {
        var lines = [
            ("supervisor", String(getpid())), ("window_ms", String(Int(window * 1000))), ("mark", launchCheck == nil ? "0" : "1"),
            ("supervised", isFirst ? "0" : "1"), ("quiet", isQuiet ? "1" : "0"), ("repair_after", String(repairAfter)), ("repair_ms", String(Int(repairTime * 1000))),
        ]
        if let preload, !preload.isEmpty { lines.append(("preload", preload)) }
        if let report { lines.append(("report", report)) }
        lines += repair.map { ("repair", "\($0.name)=\($0.command)") } + safeArgument.map { ("safe", $0) }
        return lines.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "\n")
    }

    private static func escaped(_ value: String) -> String {
        value.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
            .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    }
}
#endif
