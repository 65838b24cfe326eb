#if os(Linux)
/// Limits of this process, which a program that is started the same way has too.
enum LimitCheck {
    private struct Limit {
        /// In /proc/self/limits.
        let name: String
        /// Values below it are a finding.
        let least: UInt64
        let severity: Finding.Severity
        let code: String
        let problem: String
        let remedy: String
    }

    private static let limits = [
        Limit(
            name: "Max file size", least: 1 << 20, severity: .error, code: "limit.file-size", problem: "files may have %s bytes, and a run file does not fit",
            remedy: "raise it to 1 MiB or more: ulimit -f, LimitFSIZE="),
        Limit(
            name: "Max open files", least: 16, severity: .warning, code: "limit.descriptors",
            problem: "%s descriptors may be open, and a start needs some beside the program's own", remedy: "raise it: ulimit -n, LimitNOFILE="),
        Limit(
            name: "Max address space", least: 128 << 20, severity: .warning, code: "limit.address-space",
            problem: "the address space is limited to %s bytes, and a start maps some MiB", remedy: "raise it: ulimit -v, LimitAS="),
        Limit(
            name: "Max core file size", least: 1, severity: .note, code: "limit.core", problem: "no core file is written, as its limit is %s; a record needs none",
            remedy: "for core files beside records: ulimit -c unlimited, LimitCORE=infinity"),
    ]

    static func findings() -> [Finding] {
        let lines = SystemFile.text("/proc/self/limits")?.split(separator: "\n") ?? []
        return limits.compactMap { limit in
            // A core for a program is no file.
            guard limit.code != "limit.core" || SystemCheck.coreProgram == nil else { return nil }
            guard let line = lines.first(where: { $0.hasPrefix(limit.name) }) else { return nil }
            // The soft limit; "unlimited" is no number.
            guard let text = line.dropFirst(limit.name.count).split(separator: " ").first, let value = UInt64(text), value < limit.least else { return nil }
            return Finding(limit.severity, limit.code, limit.problem.replacing("%s", with: text), limit.remedy)
        } + pendingSignals()
    }

    /// A timer of the kernel takes one of the user's places for signals that wait.
    private static func pendingSignals() -> [Finding] {
        guard let line = SystemFile.field("SigQ", of: "/proc/self/status") else { return [] }
        let numbers = line.split(separator: "/").compactMap { UInt64($0) }
        guard numbers.count == 2, numbers[0] + 8 > numbers[1] else { return [] }
        return [
            Finding(
                .warning, "limit.pending-signals", "\(numbers[0]) of \(numbers[1]) places for waiting signals are used, and the deadline of a crash needs two",
                "raise the limit: ulimit -i, LimitSIGPENDING=; LaunchGuard keeps the deadline by a thread until then")
        ]
    }
}
#endif
