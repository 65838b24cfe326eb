/// One crash in the shape of the JSON crash log that the Swift runtime's backtracer writes, with
/// `SWIFT_BACKTRACE=format=json`: a program that reads the one reads the other.
///
/// Each key that the runtime writes has the runtime's type here; a key whose value is not known is
/// left out. ``launchguard`` is a key of LaunchGuard's own, with what the runtime does not know:
/// the application, messages, annotations, breadcrumbs. docs/EXPORT.md says what is left out.
///
/// Redacted values are not in the log. A log is a value; several threads may make
/// logs at once.
public struct SwiftCrashLog: Encodable, Sendable {
    /// Time of the crash, with microseconds.
    public var timestamp: String?
    /// Always "crashReport".
    public var kind = "crashReport"
    /// The crash in the runtime's words: the reason for a trap, or else the signal.
    public var description: String
    public var faultAddress: Address?
    public var platform: String
    /// "x86_64" or "arm64".
    public var architecture: String?
    /// The crashed thread first.
    public var threads: [Thread]
    /// Bytes as hexadecimal digits, by the address that a register of the crashed thread held; nil:
    /// none.
    public var capturedMemory: [String: String]?
    public var images: [Image]
    public var launchguard: Own

    /// A thread.
    public struct Thread: Encodable, Sendable {
        public var name: String?
        /// True, or nil.
        public var crashed: Bool?
        /// By the runtime's names.
        public var registers: [String: Address]?
        public var frames: [Frame]
    }

    /// A function, inlined ones too, or what stands for frames that are not there.
    public struct Frame: Encodable, Sendable {
        /// "programCounter", "returnAddress", "asyncResumePoint", "omittedFrames" or "truncated".
        public var kind: String
        public var address: Address?
        /// Number of omitted frames.
        public var count: UInt64?
        /// True, or nil.
        public var inlined: Bool?
        /// As the linker knows it.
        public var symbol: String?
        /// Bytes from the start of the function to the instruction, for a caller the last byte of
        /// its call.
        public var offset: UInt64?
        /// The function as a person writes it, with the offset.
        public var description: String?
        public var image: String?
        public var sourceLocation: Location?
    }

    /// A place in a source; 0: not known.
    public struct Location: Encodable, Sendable {
        public var file: String
        public var line: Int
        public var column: Int
    }

    /// A module.
    public struct Image: Encodable, Sendable {
        public var name: String
        public var buildId: String?
        public var path: String
        public var baseAddress: Address
        /// The end of its code, by the memory map a multiple of the page size; without a map the
        /// end of the module.
        public var endOfText: Address
    }

    /// Facts that the runtime's log has no key for.
    public struct Own: Encodable, Sendable {
        public var identity: RunIdentity?
        public var system: RunSystem?
        public var verdict: Verdict?
        public var signal: RunSignal
        /// For example "trap.swift.bounds".
        public var kind: String
        public var fingerprint: String?
        public var messages: [Message]?
        public var annotations: [Annotation]?
        public var breadcrumbs: Breadcrumbs?
        public var standardError: StandardError?
    }

    /// The log in one line, with its end.
    public var text: String { JSONLine.text(self) + "\n" }
}
