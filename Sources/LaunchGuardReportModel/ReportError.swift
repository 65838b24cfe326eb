/// Why a file, or a part of one, could not be read.
public struct ReportError: Error, Hashable, Sendable {
    /// Kind of the error; more codes may come with later versions. The numbers are those of
    /// `lg_status`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// A system call failed; `errno` says why.
        public static let system = Code(rawValue: 3)
        /// A symbolic link stands where the file belongs.
        public static let link = Code(rawValue: 6)
        /// This user may not read the file.
        public static let permission = Code(rawValue: 8)
        /// A checksum, bound or magic number is wrong.
        public static let damaged = Code(rawValue: 11)
        /// The file is of a newer, incompatible version.
        public static let newer = Code(rawValue: 12)
        /// There is no such file or part.
        public static let notFound = Code(rawValue: 18)
        /// The file is of the other kind: a ledger instead of a run file or the other way round.
        public static let state = Code(rawValue: 20)
        /// The process ended before this part was committed.
        public static let incomplete = Code(rawValue: 25)
        /// This platform reads no files of LaunchGuard; Linux does.
        public static let unsupported = Code(rawValue: 29)

        /// Short, stable name, for example "damaged".
        public var name: String { CLibrary.statusName(rawValue) }
    }

    public var code: Code
    /// The system's error number when `code` is `.system`.
    public var errno: Int32?
    /// The file.
    public var path: String?

    public init(code: Code, errno: Int32? = nil, path: String? = nil) {
        self.code = code
        self.errno = errno
        self.path = path
    }
}

extension ReportError: CustomStringConvertible {
    /// The problem and its remedy.
    public var message: String {
        switch code {
        case .notFound: "there is no such file"
        case .permission: "it may not be read; run this as its owner or as root"
        case .link: "it is a symbolic link, and links are not followed; name the file itself"
        case .damaged: "it is not a run file or ledger, or its header is damaged"
        case .state: "it is a ledger where a run file is needed, or a run file where a ledger is; launchguard inspect shows both"
        default: CLibrary.statusMessage(code.rawValue) + (errno.map { ": " + CLibrary.systemMessage($0) } ?? "")
        }
    }

    public var description: String {
        path.map { "\($0): \(message)" } ?? message
    }
}

/// A part of a file that could not be shown, and why.
public struct Problem: Codable, Hashable, Sendable {
    /// Which part, for example "dwarf stack".
    public var part: String
    /// Short name of the status, for example "incomplete".
    public var code: String
    /// One sentence for a person.
    public var message: String

    public init(part: String, code: String, message: String) {
        self.part = part
        self.code = code
        self.message = message
    }

    /// Whether the part was damaged, rather than never committed.
    public var isDamage: Bool { code == "damaged" }
}
