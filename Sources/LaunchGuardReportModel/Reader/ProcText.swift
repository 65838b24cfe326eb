// The record's facts from files of proc(5), in the form of those files.

extension MemoryMap {
    /// `/proc/PID/maps`. The record has no devices and no inodes.
    var procText: String {
        mappings.map { mapping in
            func hex(_ value: UInt64) -> String { String(value, radix: 16) }
            let path = mapping.path.map { " " + $0 } ?? ""
            return "\(hex(mapping.start.value))-\(hex(mapping.end.value)) \(mapping.permissions) \(hex(mapping.offset)) 00:00 0\(path)\n"
        }.joined()
    }
}

extension RunReport {
    /// `/proc/PID/status`, the lines that are known; nil: none is.
    var procStatusText: String? {
        guard let identity else { return nil }
        func figure(_ name: String) -> UInt64? { recordedCrash?.resources?[name]?.value }
        var lines: [(String, String)] = []
        func add(_ name: String, _ value: (some CustomStringConvertible)?, _ unit: String = "") {
            if let value { lines.append((name, value.description + unit)) }
        }
        add("Name", (identity.executable ?? programPath)?.lastPathPart.prefix(15))
        add("Pid", identity.processID)
        add("PPid", system?.parentProcessID)
        add("TracerPid", figure("tracer_pid"))
        add("VmSize", figure("virtual").map { $0 / 1024 }, " kB")
        add("VmHWM", figure("resident_peak").map { $0 / 1024 }, " kB")
        add("VmRSS", figure("resident").map { $0 / 1024 }, " kB")
        add("Threads", figure("threads"))
        return lines.map { "\($0):\t\($1.replacing("\n", with: "\\n"))\n" }.joined()
    }
}
