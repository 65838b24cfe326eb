import LaunchGuard

/// One event of a scenario.
struct SimulationWord: Sendable {
    /// Place in the scenario, from 1, repetitions counted: the number of its step.
    var position: Int
    /// The text of the event, without its repetition.
    var text: String
    var event: Event
    /// The explanation of the event, in the tour.
    var remark: String?

    enum Event: Hashable, Sendable {
        case end(Report.End)
        case finish, protect
        case repair, refuse, skip, repaired, trySafe
        case ok, fail, timeout
        case replay(String)
        case endInTask(Report.End, String), crashInRepair, crashInReport, crashInProtect, crashInGiveUp
        /// The run ends before it begins its launch.
        case crashBeforeBegin
        /// Decision of the program about the next launch.
        case decide(Launch.Decision)
        case wait(Duration)

        var isWait: Bool { if case .wait = self { true } else { false } }
    }

    static let ends: [Report.End] = [
        .crash, .hang, .oom, .exit, .unknown, .killed, .clean, .terminated, .reboot, .upgrade, .debugger,
    ]

    private static let plain: [String: Event] = [
        "finish": .finish, "protect": .protect, "repair": .repair, "refuse": .refuse, "skip": .skip, "repaired": .repaired, "try-safe": .trySafe, "ok": .ok,
        "fail": .fail, "timeout": .timeout, "crash-in-repair": .crashInRepair, "crash-in-report": .crashInReport,
        "crash-in-protect": .crashInProtect, "crash-in-give-up": .crashInGiveUp, "crash-before-begin": .crashBeforeBegin,
    ]

    /// All events, for a person.
    static var allText: String {
        ends.map(\.rawValue).joined(separator: " ")
            + ", finish protect, repair refuse skip repaired try-safe, ok fail timeout, replay:TASK, "
            + endsInTask.map { $0.prefix + "TASK" }.joined(separator: " ")
            + ", crash-in-repair crash-in-report crash-in-protect crash-in-give-up crash-before-begin, decide:COURSE, wait:TIME"
    }

    /// The ends that may come in a task.
    static let endsInTask: [(prefix: String, end: Report.End)] = [
        ("crash-in:", .crash), ("hang-in:", .hang), ("oom-in:", .oom), ("killed-in:", .killed), ("unknown-in:", .unknown), ("terminated-in:", .terminated),
    ]

    private static let decisions: [String: Launch.Decision] = ["go-on": .goOn, "protect": .protect, "hold": .hold]

    /// Longest scenario, repetitions included.
    private static let most = 1000

    /// The events of a command line.
    static func parse(_ arguments: [String], tasks: [String]) throws(ScenarioError) -> [SimulationWord] {
        var words: [SimulationWord] = []
        for argument in arguments {
            let (text, count) = repetition(argument)
            let position = words.count + 1
            var group: [(text: String, event: Event)] = []
            for text in members(text) { group.append((text, try event(text, position + group.count, tasks))) }
            guard 1...most ~= count, words.count + count * group.count <= most else {
                throw ScenarioError(position, argument, "an event is repeated from 1 to \(most) times, and a scenario has at most \(most) events")
            }
            for _ in 0..<count {
                for (text, event) in group { words.append(SimulationWord(position: words.count + 1, text: text, event: event)) }
            }
        }
        return words
    }

    /// The events of a group, `(crash, finish, clean)`, or the one event.
    private static func members(_ text: String) -> [String] {
        guard text.hasPrefix("("), text.hasSuffix(")") else { return [text] }
        return text.dropFirst().dropLast().split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The event and the number of its repetitions: `crash*5`.
    private static func repetition(_ argument: String) -> (text: String, count: Int) {
        guard let star = argument.lastIndex(of: "*"), star != argument.startIndex else { return (argument, 1) }
        let digits = argument[argument.index(after: star)...]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return (argument, 1) }
        return (String(argument[..<star]), Int(digits) ?? .max)
    }

    private static func event(_ text: String, _ position: Int, _ tasks: [String]) throws(ScenarioError) -> Event {
        if let event = plain[text] { return event }
        if let end = ends.first(where: { $0.rawValue == text }) { return .end(end) }
        let ofTask = endsInTask.map { word in (word.prefix, { (key: String) in Event.endInTask(word.end, key) }) }
        for (prefix, event) in ofTask + [("replay:", Event.replay)] {
            guard let key = suffix(of: text, after: prefix) else { continue }
            guard tasks.contains(key) else {
                let keys = tasks.map { "\"\($0)\"" }.joined(separator: ", ")
                throw ScenarioError(position, text, "there is no task \"\(key)\"; tasks are \(keys)")
            }
            return event(key)
        }
        if let course = suffix(of: text, after: "decide:") {
            guard let decision = decisions[course] else {
                throw ScenarioError(position, text, "\"\(course)\" is no course; courses are \(decisions.keys.sorted().joined(separator: ", "))")
            }
            return .decide(decision)
        }
        if let time = suffix(of: text, after: "wait:") {
            guard let duration = duration(time) else {
                throw ScenarioError(position, text, "\"\(time)\" is not a time; write a whole number and ms, s, m, h or d, for example 6h, at most 100d")
            }
            return .wait(duration)
        }
        throw ScenarioError(position, text, "there is no such event; events are \(allText)")
    }

    private static func suffix(of text: String, after prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }

    /// At most a hundred days, so that no clock overflows in the longest scenario.
    private static func duration(_ text: String) -> Duration? {
        let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
        for (unit, milliseconds) in units where text.hasSuffix(unit) {
            guard let count = Int64(text.dropLast(unit.count)), 0...(100 * 86_400_000 / milliseconds) ~= count else { continue }
            return .milliseconds(count * milliseconds)
        }
        return nil
    }
}
