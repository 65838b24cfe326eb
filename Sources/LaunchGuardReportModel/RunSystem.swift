/// The system that a run began on, as the start found it. The texts are those of the system and of
/// the program's environment: nobody has checked them.
public struct RunSystem: Codable, Hashable, Sendable {
    /// Release of the kernel.
    public var kernel: String?
    /// As of `uname()`, for example "aarch64".
    public var hardware: String?
    /// The model of the machine, in the words of its maker.
    public var model: String?
    /// `ID` and `VERSION_ID` of `os-release`, for example "debian" and "12".
    public var distribution: String?
    public var distributionVersion: String?
    /// The same for each run of an application on a machine; another application has another one.
    public var machineID: String?
    /// The maker of the container, by its own mark; nil: there was no mark.
    public var container: String?
    /// The systemd unit, and the id of its invocation.
    public var unit: String?
    public var invocationID: String?
    /// The parent process; nil: it is in another pid namespace.
    public var parentProcessID: Int32?
    /// Its name, where there is no unit.
    public var parentName: String?
    /// Arguments of the program; nil: it did not ask for them.
    public var commandLine: [String]?
    /// Whether there were more arguments; nil: there were not.
    public var isCommandLineCut: Bool?
}

extension RunSystem {
    /// Names and values for a person.
    var words: [(name: String, value: String)] {
        let distribution = [distribution, distributionVersion].compactMap(\.self).joined(separator: " ")
        let kernel = (["Linux"] + [kernel, hardware].compactMap(\.self)).joined(separator: " ")
        var words = [("system", [distribution, kernel, model ?? ""].filter { !$0.isEmpty }.joined(separator: ", "))]
        if let machineID { words.append(("machine", machineID)) }
        if let container { words.append(("container", container)) }
        if let unit {
            words.append(("unit", unit + (invocationID.map { ", invocation \($0)" } ?? "")))
        } else if let parentProcessID {
            words.append(("parent", "\(parentProcessID)" + (parentName.map { ", \($0)" } ?? "")))
        }
        if let commandLine {
            words.append(("command", commandLine.map(TextWriter.word).joined(separator: " ") + (isCommandLineCut == true ? " …" : "")))
        }
        return words
    }
}
