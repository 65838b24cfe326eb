/// An event of a scenario that makes no sense.
struct ScenarioError: Error, CustomStringConvertible {
    let description: String

    /// - Parameter position: of the event in the scenario, from 1.
    init(_ position: Int, _ word: String, _ reason: String) {
        description = "event \(position), \"\(word)\": \(reason)"
    }
}
