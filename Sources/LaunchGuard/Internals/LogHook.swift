internal import CLaunchGuard

/// The program's closure for what LaunchGuard says.
final class LogHook: Sendable {
    private let onLog: @Sendable (LogLevel, String, String) -> Void

    init(_ onLog: @escaping @Sendable (LogLevel, String, String) -> Void) { self.onLog = onLog }

    static let callback: lg_log_callback = { level, category, text, hook in
        guard let category = unsafe category, let text = unsafe text, let hook = unsafe hook else { return }
        let level = LogLevel(rawValue: level.rawValue) ?? .info
        unsafe Unmanaged<LogHook>.fromOpaque(hook).takeUnretainedValue().onLog(level, String(cString: category), String(cString: text))
    }
}
