/// A figure of the process or of the system at the crash.
public struct Resource: Codable, Hashable, Sendable {
    /// Nil: a limit that is unlimited.
    public var value: UInt64?
    /// For example "bytes", "ns", "0.01 %"; empty for plain counts.
    public var unit: String

    public init(value: UInt64?, unit: String) {
        self.value = value
        self.unit = unit
    }

    /// The figure as a person reads it.
    var text: String {
        guard let value else { return "unlimited" }
        switch unit {
        case "bytes": return value.bytesText
        case "ns": return value.durationText
        case "s":
            let (nanoseconds, overflowed) = value.multipliedReportingOverflow(by: 1_000_000_000)
            return value < 60 || overflowed ? "\(value) s" : nanoseconds.durationText
        case "0.01", "0.01 %":
            let hundredths = value % 100
            return "\(value / 100).\(hundredths < 10 ? "0" : "")\(hundredths)\(unit == "0.01" ? "" : " %")"
        default: return "\(value)" + (unit.isEmpty ? "" : " \(unit)")
        }
    }
}

extension Crash {
    /// The figures on a few lines.
    func writeResources(to writer: inout TextWriter) {
        let lines = resourceLines
        guard !lines.isEmpty else { return }
        writer.heading("resources")
        for (name, figures) in lines {
            writer.add("  ")
            writer.add(name, width: 10, .dim)
            writer.line(figures)
        }
    }

    /// The figures in groups. Those that are not known are left out.
    var resourceLines: [(name: String, figures: String)] {
        guard let resources, !resources.isEmpty else { return [] }
        var shown: Set<String> = []
        func figure(_ name: String, _ words: (String) -> String) -> String? {
            guard let resource = resources[name] else { return nil }
            shown.insert(name)
            return words(resource.text)
        }
        func limited(_ name: String, _ limit: String, _ words: String) -> String? {
            figure(name) { value in
                "\(words) \(value)" + (figure(limit) { $0 == "unlimited" ? "" : " of \($0)" } ?? "")
            } ?? figure(limit) { "\(words) limit \($0)" }
        }
        let lines: [(String, [String?])] = [
            (
                "memory",
                [
                    figure("resident") { "resident \($0)" }, figure("resident_peak") { "peak \($0)" },
                    limited("virtual", "virtual_limit", "virtual"), figure("data_limit") { $0 == "unlimited" ? "" : "data limit \($0)" },
                    figure("stack_limit") { "stack limit \($0)" },
                ]
            ),
            (
                "group",
                [
                    limited("cgroup_memory", "cgroup_limit", "memory"),
                    figure("cgroup_oom_kills") { "killed for lack of memory: \($0)" },
                ]
            ),
            (
                "process",
                [
                    limited("descriptors", "descriptor_limit", "descriptors"), figure("threads") { "threads \($0)" },
                    figure("cpu_user") { "CPU \($0) user" }, figure("cpu_system") { "\($0) system" },
                    figure("cpu_limit") { $0 == "unlimited" ? "" : "CPU limit \($0)" },
                    figure("faults_minor") { "page faults \($0) minor" }, figure("faults_major") { "\($0) major" },
                    figure("tracer_pid") { $0 == "0" ? "" : "traced by process \($0)" },
                ]
            ),
            (
                "system",
                [
                    limited("memory_free", "memory_total", "free memory"), limited("swap_free", "swap_total", "free swap"),
                    figure("memory_pressure_some") { "memory pressure \($0) some" }, figure("memory_pressure_full") { "\($0) full" },
                    figure("load_1_min") { "load \($0)" }, figure("uptime") { "up \($0)" },
                ]
            ),
        ]
        let others = resources.keys.filter { !shown.contains($0) }.sorted().map { "\($0) \(resources[$0]?.text ?? "")" }
        return (lines + [("other", others)]).compactMap { name, figures in
            let known = figures.compactMap(\.self).filter { !$0.isEmpty }
            return known.isEmpty ? nil : (name, known.joined(separator: ", "))
        }
    }
}
