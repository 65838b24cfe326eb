#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel

/// A process that still owns its number: it lives, or nobody has waited for it yet, when this is
/// made.
struct ProcessIdentity: Equatable {
    let process: pid_t
    /// The start of the process in clock ticks since boot; nil: /proc does not say.
    let startTicks: UInt64?

    init(_ process: pid_t, startTicks: UInt64) {
        self.process = process
        self.startTicks = startTicks
    }

    init(_ process: pid_t) {
        self.process = process
        startTicks = Self.field(22, of: process)
    }

    /// Whether the process descends from this process. A parent on the way that ends meanwhile
    /// leaves its children to another one, so that the way is tried again.
    var isDescendant: Bool {
        for _ in 0..<3 {
            var at = process
            for _ in 0..<256 {
                guard let parent = Self.field(4, of: at) else { break }
                if parent == UInt64(getpid()) { return true }
                if parent <= 1 { return false }
                at = pid_t(parent)
            }
        }
        return false
    }

    /// A field of /proc/PID/stat, which is after the name. The name may hold anything.
    private static func field(_ number: Int, of process: pid_t) -> UInt64? {
        guard let head = ProgramHead("/proc/\(process)/stat", size: 1024), let end = head.bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = head.bytes.suffix(from: end + 1).split(separator: UInt8(ascii: " "))
        return fields.count > number - 3 ? UInt64(String(decoding: fields[number - 3], as: UTF8.self)) : nil
    }
}
#endif
