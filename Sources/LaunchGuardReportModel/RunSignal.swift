/// A signal by number and name. The numbers are those that Linux uses on x86-64 and arm64.
public struct RunSignal: Codable, Hashable, Sendable {
    public var number: Int32
    public var name: String

    public init(_ number: Int32) {
        self.number = number
        self.name = Self.names[number] ?? (34...64 ~= number ? "SIGRTMIN+\(number - 34)" : "signal \(number)")
    }

    private static let names: [Int32: String] = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
        10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGSTKFLT", 17: "SIGCHLD",
        18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU", 23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ",
        26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
    ]

    /// Name of an `si_code` of this signal, for example "SEGV_MAPERR"; nil when it has none.
    public func codeName(_ code: Int32) -> String? {
        switch code {
        case 0: return "SI_USER"
        case 0x80: return "SI_KERNEL"
        case -1: return "SI_QUEUE"
        case -2: return "SI_TIMER"
        case -3: return "SI_MESGQ"
        case -4: return "SI_ASYNCIO"
        case -6: return "SI_TKILL"
        default: break
        }
        guard let names = Self.codeNames[number], code >= 1, code <= names.count else { return nil }
        return names[Int(code) - 1]
    }

    private static let codeNames: [Int32: [String]] = [
        4: ["ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK"],
        5: ["TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT"],
        7: ["BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"],
        8: [
            "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB",
        ],
        11: [
            "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR",
            "SEGV_MTEAERR", "SEGV_MTESERR",
        ],
        31: ["SYS_SECCOMP", "SYS_USER_DISPATCH"],
    ]
}
