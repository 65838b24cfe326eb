internal import LaunchGuardReportModel

extension RunReport {
    /// A part of a file that could not be read.
    public struct Problem: Hashable, Sendable {
        /// Which part, for example "dwarf stack".
        public let part: String
        /// Why, in a sentence.
        public let message: String
        /// Whether the part is damaged; else the process ended before it was written.
        public let isDamage: Bool

        init(_ problem: LaunchGuardReportModel.Problem) {
            part = problem.part
            message = problem.message
            isDamage = problem.isDamage
        }
    }

    /// Why a file could not be read, or not be exported.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason as a word.
        public let code: Code
        /// The file.
        public let path: String?
        /// The file, the problem and its remedy.
        public let description: String

        /// A reason; later versions may have more.
        public struct Code: Hashable, Sendable {
            /// For example "damaged".
            public let name: String

            /// A system call failed.
            public static let system = Code(.system)
            /// There is no such file.
            public static let notFound = Code(.notFound)
            /// This user may not read the file.
            public static let permission = Code(.permission)
            /// A symbolic link stands where the file belongs.
            public static let link = Code(.link)
            /// A run file is needed, and this is a ledger, or the other way round.
            public static let state = Code(.state)
            /// It is no file of LaunchGuard, or its header is damaged.
            public static let damaged = Code(.damaged)
            /// A later, incompatible version wrote the file.
            public static let newer = Code(.newer)
            /// The report has nothing that the format can hold, or too much.
            public static let format = Code(name: "format")
            /// This platform reads no files of LaunchGuard; Linux does.
            public static let unsupported = Code(.unsupported)

            init(name: String) { self.name = name }

            init(_ code: ReportError.Code) { name = code.name }
        }

        init(_ error: ReportError) {
            code = Code(error.code)
            path = error.path
            description = error.description
        }

        init(path: String, format: String, lacks what: String) {
            code = .format
            self.path = path
            description = "\(path): \(format) is impossible: \(what)"
        }
    }
}
