import ArgumentParser
import LaunchGuard

/// A task of the simulated launch: `KEY[:FLAG,…]`.
struct SimulatedTask: Sendable, Encodable {
    var key: String
    var isEssential = false
    var isSuspect = false
    var isUnsafe = false
    /// By the configuration of the program.
    var isLeftOut = false
    /// After a hold it waits for the event `replay:KEY`.
    var isByKey = false

    static let usual = [SimulatedTask(key: "open database"), SimulatedTask(key: "restore windows", isUnsafe: true)]

    init(key: String, isUnsafe: Bool = false) {
        self.key = key
        self.isUnsafe = isUnsafe
    }

    init(_ text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, !parts[0].isEmpty else {
            throw ValidationError("\"\(text)\" is not a task; write KEY or KEY:FLAG,…")
        }
        key = parts[0]
        for flag in parts.count > 1 ? parts[1].split(separator: ",") : [] {
            switch flag {
            case "essential": isEssential = true
            case "suspect": isSuspect = true
            case "unsafe": isUnsafe = true
            case "left-out": isLeftOut = true
            case "by-key": isByKey = true
            default:
                throw ValidationError(
                    "\"\(text)\": there is no flag \"\(flag)\"; flags are essential, suspect, unsafe, left-out and by-key.")
            }
        }
        guard !isEssential || !(isSuspect || isUnsafe) else {
            throw ValidationError("\"\(text)\": LaunchGuard leaves out no essential task; it can be neither suspect nor unsafe.")
        }
    }

    var options: Launch.TaskOptions {
        var options: Launch.TaskOptions = []
        if isEssential { options.insert(.essential) }
        if isSuspect { options.insert(.suspect) }
        if isUnsafe { options.insert(.unsafe) }
        if isByKey { options.insert(.replayByKey) }
        return options
    }
}
