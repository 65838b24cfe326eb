extension LaunchGuardError {
    /// The kind of an error. Later versions may have more kinds, so a `switch` needs a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number in the C status table; a number never changes its meaning.
        public let rawValue: UInt32

        /// Make the code with a number of the C status table.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
    }
}

extension LaunchGuardError.Code: CustomStringConvertible {
    /// Short, stable name, for example "no-space"; "unknown" for a number that is not in the table.
    public var description: String { Core.name(of: self) }

    /// The meaning of the code and the remedy, without a full stop.
    public var message: String { Core.message(of: self) }
}
