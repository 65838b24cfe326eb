extension Session {
    /// Contents of a crash record besides the crashed thread.
    public struct RecordOptions: Hashable, Sendable {
        /// Bytes of stack memory that a crash record keeps, for all threads together: 4096 to
        /// 16777216.
        public var stackBytes: Int
        /// Number of other threads for which a crash record has room: 1 to 1024.
        public var threadLimit: Int
        /// Parts that the crash record leaves out.
        public var leaveOut: Parts
        /// Whether the run file keeps the last 16320 bytes of standard error. File descriptor 2
        /// then becomes a pipe. A child that outlives this process and still writes to the pipe
        /// gets `SIGPIPE`.
        public var keepsStandardError: Bool
        /// Whether libunwind is loaded, to walk the stack where LaunchGuard's own walk by unwind
        /// tables crashes. Loading takes some 0.3 ms at the start.
        public var hasSpareWalk: Bool
        /// Whether LaunchGuard takes signals. `false` is for a program that has a crash reporter
        /// already: there are no crash records then, no stacks of hangs, and no marks of SIGTERM
        /// and its like; everything else works as ever.
        public var capturesSignals: Bool

        /// Whether the run file keeps the first 968 bytes of the program's arguments, which may
        /// name users, files and keys.
        public var keepsCommandLine: Bool

        /// Every option has the default of the C interface.
        public init(
            stackBytes: Int = 131_072, threadLimit: Int = 64, leaveOut: Parts = [], keepsStandardError: Bool = false, hasSpareWalk: Bool = false,
            capturesSignals: Bool = true, keepsCommandLine: Bool = false
        ) {
            self.stackBytes = stackBytes
            self.threadLimit = threadLimit
            self.leaveOut = leaveOut
            self.keepsStandardError = keepsStandardError
            self.hasSpareWalk = hasSpareWalk
            self.capturesSignals = capturesSignals
            self.keepsCommandLine = keepsCommandLine
        }

        /// Parts of a record that can be left out.
        public struct Parts: OptionSet, Hashable, Sendable {
            /// The bits, as in C.
            public let rawValue: UInt32

            /// Make the set of these bits.
            public init(rawValue: UInt32) { self.rawValue = rawValue }

            /// Texts of libc, of the Swift runtime, of C++ exceptions.
            public static let messages = Parts(rawValue: 1)
            /// The other threads, which are then not interrupted.
            public static let threads = Parts(rawValue: 2)
            /// Stack memory, which holds the program's data.
            public static let stacks = Parts(rawValue: 4)
            /// Memory map and resource figures.
            public static let process = Parts(rawValue: 8)
        }
    }
}
