extension Launch.Hold {
    /// The reason why a launch waits for an answer.
    public struct Reason: Hashable, Sendable {
        /// Later versions may have more kinds, so a `switch` needs a `default`. C:
        /// `lg_held_reason`.
        public struct Kind: RawRepresentable, Hashable, Sendable {
            /// The number in C.
            public let rawValue: UInt32

            /// Make the kind with a number of C.
            public init(rawValue: UInt32) { self.rawValue = rawValue }

            /// A repair needs the consent of the program.
            public static let consent = Kind(rawValue: 0)
            /// ``Launch/protect(reason:)``, and nothing repairs by itself.
            public static let protected = Kind(rawValue: 1)
            /// ``Launch/Decision/hold``.
            public static let decided = Kind(rawValue: 2)
            /// A hint of the vendor, until another version.
            public static let hint = Kind(rawValue: 3)
        }

        /// The kind of reason.
        public var kind: Kind
        /// Name of the repair that ``Launch/Hold/repair()`` would start; `nil`: there is none.
        public var repair: String?
        /// The reason that ``Launch/protect(reason:)`` was given, cut to 255 bytes.
        public var text: String?

        /// A reason as it is given, for tests of a screen.
        public init(kind: Kind, repair: String? = nil, text: String? = nil) {
            self.kind = kind
            self.repair = repair
            self.text = text
        }
    }
}
