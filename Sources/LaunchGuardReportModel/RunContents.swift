/// The contents of a run file: one process life. Every part is optional, because the process may
/// have ended before it wrote the part, or the file may be damaged; `problems` says which part is
/// missing and why.
public struct RunReport: Codable, Hashable, Sendable {
    /// Version of this shape. It grows when a field changes its meaning or goes away, not when a
    /// field is added.
    public static let currentSchema = 1

    public var schema = RunReport.currentSchema
    /// Always "run".
    public var type = "run"
    /// The file.
    public var path: String
    public var identity: RunIdentity?
    /// The system that the run began on.
    public var system: RunSystem?
    public var verdict: Verdict?
    /// The same for equal ends of one build of a program, in hexadecimal digits; nil: the run goes
    /// on, or its identity is damaged. C: `lg_reader_fingerprint()`.
    public var fingerprint: String?
    public var contexts: [RunContext]?
    /// The crash that counts: the last crash that the program is not known to have survived, or the
    /// crash in whose handler that one came.
    public var crash: Crash?
    /// All other crashes that the file holds, in the order in which they came.
    public var otherCrashes: [Crash]?
    /// Named values that the program set, by key.
    public var annotations: [Annotation]?
    /// Threads with a heartbeat, and jobs that had not ended.
    public var heartbeats: [Heartbeat]?
    public var deadlines: [Deadline]?
    /// Stacks taken while the program lived: of the last hang, of the last job that was about to
    /// overrun its deadline, and of the first shortage of memory.
    public var snapshots: [Snapshot]?
    /// Findings of guards; nil: the program did not start them.
    public var guards: GuardRecord?
    public var breadcrumbs: Breadcrumbs?
    /// The reason that the program gave on standard error before it ended by its own will; nil: it
    /// is not known, or a crash has a message. C: `lg_reader_last_words()`.
    public var lastWords: Message?
    /// The last bytes of standard error, where the program kept them.
    public var standardError: StandardError?
    /// The executable first.
    public var modules: [RunModule]?
    /// Modules that had no room in the file; nil: none.
    public var modulesOmitted: UInt64?
    public var problems: [Problem] = []

    public init(path: String) {
        self.path = path
    }

    /// Whether any part of the file is damaged.
    public var isDamaged: Bool { problems.contains(where: \.isDamage) }

    /// The length of the run, as far as its end is known.
    public var durationNanoseconds: UInt64? {
        guard let start = identity?.monotonicNanoseconds, let end = verdict?.monotonicNanoseconds, end >= start else { return nil }
        return end - start
    }

    /// The wall clock time of a moment of this run that the file holds in monotonic time.
    public func time(monotonic nanoseconds: UInt64) -> Timestamp? {
        guard let identity, let start = identity.started else { return nil }
        let (offset, wasEarlier) = nanoseconds.subtractingReportingOverflow(identity.monotonicNanoseconds)
        let (time, overflowed) =
            wasEarlier
            ? start.nanoseconds.subtractingReportingOverflow(identity.monotonicNanoseconds - nanoseconds)
            : start.nanoseconds.addingReportingOverflow(offset)
        return overflowed ? nil : Timestamp(nanoseconds: time)
    }

    /// Keys whose values leave in no export: neither those of annotations nor those of fields of
    /// breadcrumbs and guard events.
    public var redactedKeys: Set<String> {
        Set((annotations ?? []).filter(\.isRedacted).map(\.key))
    }

    /// The crash with the surroundings in its record: other threads, figures, memory. A brief
    /// record has none.
    package var recordedCrash: Crash? {
        crash?.isBrief == true ? otherCrashes?.first { $0.isBrief != true } : crash
    }

    /// The crash that the run ended by.
    public var fatalCrash: Crash? { crash.flatMap { $0.isHandled || $0.isRequestedDump ? nil : $0 } }

    /// Where the crash or the hang was that the run ended by, for example "in Notes.open()".
    public var place: String? {
        let own = OwnCode(self)
        return fatalCrash.map { own.place(in: $0.stack) } ?? hang?.place(own)
    }

    /// Whether a better walk of the crashed thread's stack may find another place.
    public var isPlaceDoubtful: Bool {
        guard let crash else { return false }
        let own = OwnCode(self)
        guard let stack = crash.stack, let index = stack.frames.firstIndex(where: own.isOwn) else { return true }
        let certain = crash.dwarfStack?.certainFrames ?? stack.frames.prefix(1)
        return !certain.map(\.address).starts(with: stack.frames[...index].map(\.address))
    }

    /// Path of the program's own module.
    var programPath: String? {
        let executable = identity?.executable
        return modules?.first { $0.buildID != nil && $0.buildID == identity?.buildID }?.path
            ?? modules?.first { $0.name == executable?.lastPathPart }?.path ?? executable
    }

    /// The module whose segments cover an address.
    public func module(at address: Address) -> RunModule? {
        modules?.first { $0.contains(address) }
    }
}

/// The process of a run.
public struct RunIdentity: Codable, Hashable, Sendable {
    public var uuid: String
    /// Number of the run in its state directory, from 1.
    public var ordinal: UInt64
    public var appID: String
    public var appVersion: String?
    /// Path of the executable.
    public var executable: String?
    public var buildID: String?
    public var bootID: String?
    public var processID: Int32
    /// The effective user.
    public var userID: UInt32
    /// Time of the start; nil when the clock was not known.
    public var started: Timestamp?
    /// The same moment on the monotonic clock.
    public var monotonicNanoseconds: UInt64
    /// Whether `lg_start()` completed.
    public var isStartComplete: Bool
    /// Whether the process is alive now.
    public var isAlive: Bool
    /// Whether another process held the ledger.
    public var isSecondary: Bool
    /// The last terminating signal that the run noted.
    public var termination: Termination?
    /// Pages of the file that memory replaced after the file was cut.
    public var healedPages: UInt32
    /// The program's own word that it would end.
    public var announcement: Announcement?
    /// The wait status that another process stored.
    public var witness: Witness?
    /// The begin of the hang, on the monotonic clock.
    public var hangSinceNanoseconds: UInt64?
    /// When the process was last seen alive while it hung, on the monotonic clock.
    public var hungAliveNanoseconds: UInt64?
    /// Processes that the kernel had ended for lack of memory before the start; nil: not known.
    public var memoryKills: MemoryKills?
    /// CPU time when it was about to reach the hard limit; nil: it was not.
    public var cpuLimit: CPULimit?
    /// Memory when it was last seen near the limit; nil: it is not.
    public var memoryPressure: MemoryPressure?
    /// The program's own word that it had crashed.
    public var crashNote: CrashNote?

    /// The program's own word that it would end, or be started again.
    public struct Announcement: Codable, Hashable, Sendable {
        public enum Kind: String, Codable, Sendable {
            case termination, restart
        }

        public var kind: Kind
        public var monotonicNanoseconds: UInt64
    }

    /// The wait status that another process stored after it had waited for the program.
    public struct Witness: Codable, Hashable, Sendable {
        /// As of `waitpid()`.
        public var waitStatus: Int32
        /// When it was stored.
        public var monotonicNanoseconds: UInt64?
        /// One of them, where the status says so.
        public var exitCode: Int32?
        public var signal: RunSignal?

        public init(waitStatus: Int32) {
            self.waitStatus = waitStatus
            let number = waitStatus & 0x7F
            if number == 0 { exitCode = waitStatus >> 8 & 0xFF }
            if number != 0, number != 0x7F { signal = RunSignal(number) }
        }
    }

    /// Processes of its cgroup that the kernel had ended for lack of memory.
    public struct MemoryKills: Codable, Hashable, Sendable {
        public var count: UInt64
        /// Inode of the cgroup's directory.
        public var cgroup: UInt64
    }

    /// A terminating signal and its sender.
    public struct Termination: Codable, Hashable, Sendable {
        public var signal: RunSignal
        /// Nil: the kernel, or unknown.
        public var senderProcessID: Int32?
        public var senderUserID: UInt32?
        public var monotonicNanoseconds: UInt64
        /// Whether the program has a handler of its own for it, and may have lived on.
        public var isKept: Bool?
        /// The time when the program was last seen alive, a second or more after the signal; nil:
        /// it was not.
        public var aliveNanoseconds: UInt64?

        /// The time that the program is known to have lived on.
        public var livedNanoseconds: UInt64? {
            aliveNanoseconds.flatMap { $0 > monotonicNanoseconds ? $0 - monotonicNanoseconds : nil }
        }
    }

    /// The word of the program, or of a crash reporter in it, that it had crashed.
    public struct CrashNote: Codable, Hashable, Sendable {
        /// The kind of crash, in the program's words; nil: it named none.
        public var type: String?
        public var monotonicNanoseconds: UInt64
    }

    /// CPU time near its hard limit.
    public struct CPULimit: Codable, Hashable, Sendable {
        public var usedNanoseconds: UInt64
        public var limitSeconds: UInt64
        public var monotonicNanoseconds: UInt64
    }

    /// Memory near its limit.
    public struct MemoryPressure: Codable, Hashable, Sendable {
        public var usedBytes: UInt64
        public var limitBytes: UInt64
        public var monotonicNanoseconds: UInt64
    }
}

/// One context of a run.
public struct RunContext: Codable, Hashable, Sendable {
    public var name: String
    public var phase: Phase
    /// Monotonic times; nil: not reached.
    public var begunNanoseconds: UInt64?
    public var launchingNanoseconds: UInt64?
    public var finishedNanoseconds: UInt64?
    public var windowMilliseconds: Int64
    /// The condition that finishes the launch.
    public var finish: Finish
    /// The rung under repair, where 0 is the built-in one, and the attempt, from 1; nil unless a
    /// repair runs.
    public var rung: UInt32?
    public var attempt: UInt32?
    /// Key of the launch task that ran.
    public var task: String?
    /// The thread that ran it.
    public var taskThreadID: Int32?
    /// File names of the context's own modules; nil: none.
    public var modules: [String]?

    /// Phase of a context within a run.
    public enum Phase: String, Codable, Sendable {
        case notBegun = "none"
        case deciding, repairing, launching, finished, held, halted, terminating, invalid
    }

    /// The condition that finishes a launch.
    public enum Finish: String, Codable, Sendable {
        case either, mark, time, both, invalid
    }
}
