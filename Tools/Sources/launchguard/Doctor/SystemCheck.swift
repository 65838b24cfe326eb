#if os(Linux)
/// Settings of the kernel and of the sandbox.
enum SystemCheck {
    static func findings() -> [Finding] {
        corePattern() + seccomp()
    }

    /// The program that the kernel hands cores to, whatever the limit of core files; nil: none.
    static var coreProgram: Substring? {
        guard let pattern = SystemFile.text("/proc/sys/kernel/core_pattern"), pattern.hasPrefix("|") else { return nil }
        return pattern.dropFirst().prefix { $0 != " " && $0 != "\n" }
    }

    private static func corePattern() -> [Finding] {
        guard let program = coreProgram else { return [] }
        return [
            Finding(
                .note, "system.core-pattern", "the kernel hands each core to \(program), which runs after the record and delays the end of the process",
                "none is needed: both describe the same crash, under the number of the process")
        ]
    }

    private static func seccomp() -> [Finding] {
        // A filter. No program can be started under the other kind, strict seccomp.
        guard SystemFile.field("Seccomp", of: "/proc/self/status") == "2" else { return [] }
        return [
            Finding(
                .note, "system.seccomp", "a seccomp filter is in force; a call that it answers with an error or SIGSYS costs only its part of a record",
                "prove the whole chain there with launchguard-faults; a filter that kills leaves the header of the record alone")
        ]
    }
}
#endif
