import LaunchGuard
import LaunchGuardReportModel

extension SimulationReport {
    /// The lines above the steps.
    static func writeHead(of policy: PolicyOptions, to writer: inout TextWriter) {
        writer.add("simulation of the launch ")
        writer.line(policy.context, .bold)
        let unknown = policy.unknownAfter ?? 2 * policy.repairAfter
        writer.line(
            "  report after \(policy.reportAfter), repair after \(policy.repairAfter), "
                + (unknown == 0 ? "never for unexplained deaths" : "after \(unknown) unexplained deaths")
                + (policy.byHand ? ", by hand" : "") + (policy.supervised ? ", supervised" : "") + (policy.shadow ? ", in shadow" : ""))
        writer.line("  repairs: " + policy.repairs.map(\.text).joined(separator: ", "))
        writer.line("  tasks: " + policy.tasks.map(\.text).joined(separator: ", "))
        writer.endLine()
        writer.line(row("#", "event", "status", "mode", "streak", "rung", "tries"), .bold)
    }

    fileprivate static func row(
        _ number: String, _ event: String, _ status: String, _ mode: String, _ streak: String, _ rung: String, _ tries: String
    ) -> String {
        func left(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(1, width - text.count)) }
        func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
        return right(number, 3) + "  " + left(event, 26) + left(status, 26) + left(mode, 20) + left(streak, 8) + left(rung, 6) + tries
    }
}

extension SimulationReport.Step {
    func write(to writer: inout TextWriter) {
        let tries = after.isOnLadder ? after.attemptsAllowed.map { "\(after.attempts)/\($0)" } ?? "" : ""
        writer.line(
            SimulationReport.row(
                String(number), event, Self.change(before.status, after.status), Self.change(before.modeText, after.modeText),
                String(after.streak), after.isOnLadder ? String(after.rung) : "–", tries),
            after.status == "normal" ? .green : .yellow)
        if let remark { writer.line("       \(remark)", .dim) }
        for callback in callbacks { writer.line("       · " + callback.text) }
    }

    private static func change(_ before: String, _ after: String) -> String { before == after ? after : "\(before) → \(after)" }
}

extension SimulationReport.Standing {
    fileprivate var modeText: String { isHalted ? "halted" : mode }

    /// In safe mode and in a trial no repair is tried.
    fileprivate var isOnLadder: Bool { mode != "safe" && mode != "trial" }
}

extension SimulatedRepair {
    fileprivate var text: String {
        let flags = [
            isDestructive ? "destructive" : nil, needsConsent ? "by consent" : nil, needsRestart ? "restart" : nil,
            attempts == 2 ? nil : "attempts \(attempts)",
        ]
        return (["\(name) (impact \(impact)"] + flags.compactMap(\.self)).joined(separator: ", ") + ")"
    }
}

extension SimulatedTask {
    fileprivate var text: String {
        let flags = [isEssential ? "essential" : nil, isSuspect ? "suspect" : nil, isUnsafe ? "unsafe" : nil, isLeftOut ? "left-out" : nil, isByKey ? "by-key" : nil].compactMap(\.self)
        return flags.isEmpty ? key : "\(key) (\(flags.joined(separator: ", ")))"
    }
}
