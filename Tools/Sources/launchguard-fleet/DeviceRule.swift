import ToolParts

/// How a run gets its device.
enum DeviceRule {
    /// All of it is of the device that a person named.
    case named(String)
    /// By the machine id in the run, or else by the name of the argument.
    case machine
    /// By the name of the argument: a tarball without its suffix, or the last part of a folder.
    case name
    /// By the part of the path to the state directory at the mark in a pattern.
    case pattern(DevicePattern)
}

extension CollectOptions {
    var rule: DeviceRule {
        if let device { return .named(device) }
        return switch deviceFrom {
        case nil, "machine": .machine
        case "name": .name
        case let text?: DevicePattern(text).map { .pattern($0) } ?? .name
        }
    }
}
