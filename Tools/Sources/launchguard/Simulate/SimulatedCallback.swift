import LaunchGuard

/// A callback of the program that ran, with its outcome.
struct SimulatedCallback: Encodable, Sendable {
    enum Kind: String, Encodable, Sendable {
        case status, decide, report, repair, protect, task
        case builtIn = "built-in"
        case giveUp = "give-up"
        case ineffective, begin
    }

    enum Outcome: String, Encodable, Sendable {
        case begins, ok, failed
        case timeout = "no answer in time"
        case run
        case leftOut = "left out"
        case omitted = "left out by configuration"
        case restart
    }

    var kind: Kind
    var name: String?
    var attempt: Int?
    var streak: Int?
    var status: String?
    var isHalted: Bool?
    var outcome: Outcome?

    /// The text for a person.
    var text: String {
        let name = name ?? ""
        let outcome = outcome?.rawValue ?? ""
        return switch kind {
        case .status: "status: \(status ?? "")" + (isHalted == true ? ", halted" : "")
        case .decide: "on_decide: by rule \(status ?? ""), streak \(streak ?? 0); the program says \(name)"
        case .report: "on_report: streak \(streak ?? 0)"
        case .repair: "repair \"\(name)\", attempt \(attempt ?? 0): \(outcome)"
        case .builtIn: "rung 0, built in: the suspect task is left out"
        case .protect: "protect: \(name)"
        case .task: "task \(name): \(outcome)"
        case .giveUp: "on_give_up"
        case .ineffective: "\(name): no effect in safe mode and in shadow"
        case .begin: "begin: a repair needs a restart of the program; no task runs"
        }
    }
}
