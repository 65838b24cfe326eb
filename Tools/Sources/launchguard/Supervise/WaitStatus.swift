import LaunchGuardReportModel

/// How a process ended, as `waitpid()` says it, from the words of a shell or of systemd.
struct WaitStatus: Equatable {
    let rawValue: Int32

    private static let signals: ClosedRange<Int32> = 1...64

    static func exit(_ code: Int32) -> WaitStatus? { (0...255).contains(code) ? WaitStatus(rawValue: code << 8) : nil }

    static func signal(_ number: Int32) -> WaitStatus? { signals.contains(number) ? WaitStatus(rawValue: number) : nil }

    /// By its name, with or without SIG, or by its number.
    static func signal(_ name: some StringProtocol) -> WaitStatus? {
        if let number = Int32(name) { return signal(number) }
        let full = name.hasPrefix("SIG") ? String(name) : "SIG" + name
        return signals.first { RunSignal($0).name == full || (full == "SIGRTMIN" && $0 == 34) }.flatMap(signal)
    }

    /// From the status of `waitpid()`; nil: the process has not ended.
    static func wait(_ status: Int32) -> WaitStatus? {
        let number = status & 0x7F
        if number == 0 { return exit(status >> 8) }
        // 128: a core file was written.
        return status >> 8 == 0 && signals.contains(number) ? WaitStatus(rawValue: status) : nil
    }

    /// The status given to `exit()`; nil: a signal ended the program.
    var exitCode: Int32? { rawValue & 0x7F == 0 ? rawValue >> 8 & 0xFF : nil }
}

extension WaitStatus {
    /// One of `exit:3`, `signal:SEGV`, `wait:139`; or a shell's `$?`, where a status from 129 to
    /// 192 means the signal 128 less, unless `exitMark`, which the program left in `exit()`, is
    /// that very number.
    static func parse(_ text: String, exitMark: Int32?) -> WaitStatus? {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            guard let status = Int32(text) else { return nil }
            return status == exitMark ? exit(status) : signal(status - 128) ?? exit(status)
        }
        switch parts[0] {
        case "exit": return Int32(parts[1]).flatMap(exit)
        case "signal": return signal(parts[1])
        case "wait": return Int32(parts[1]).flatMap(wait)
        default: return nil
        }
    }

    /// From `$EXIT_CODE` and `$EXIT_STATUS`, as systemd gives them to `ExecStopPost=`.
    static func systemd(code: String, status: String) -> WaitStatus? {
        switch code {
        case "exited": Int32(status).flatMap(exit)
        case "killed", "dumped": signal(status)
        default: nil
        }
    }
}
