#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel

/// Whether process 1 waits for the processes that it inherits, as it must in a container.
enum ReaperCheck {
    static func findings() -> [Finding] {
        var left = leftBehind()
        // One that has just ended may be waited for in a moment.
        for _ in 0..<4 where !left.isEmpty {
            usleep(100_000)
            left.formIntersection(leftBehind())
        }
        guard !left.isEmpty else { return [] }
        let name = SystemFile.text("/proc/1/comm")?.split(separator: "\n").first ?? "?"
        return [
            Finding(
                .warning, "system.reaper", "process 1 (\(name)) does not wait for processes that it inherits: \(left.count) are left behind",
                "let launchguard run or another init be process 1 (docker run --init); else the numbers of processes run out, and an end is seen late")
        ]
    }

    /// Numbers of ended processes whose parent is process 1.
    private static func leftBehind() -> Set<Int32> {
        guard let stream = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(stream) }
        var found: Set<Int32> = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            // "number (name) state parent …"; a name may hold anything.
            guard let process = Int32(name), let text = SystemFile.text("/proc/\(name)/stat", limit: 1024), let end = text.lastIndex(of: ")") else { continue }
            let fields = text[text.index(after: end)...].split(separator: " ")
            if fields.count > 1, fields[0] == "Z", fields[1] == "1" { found.insert(process) }
        }
        return found
    }
}
#endif
