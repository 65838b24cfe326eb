extension Launch {
    /// Number of unexplained early deaths from which they are reported and repairs are tried.
    public enum UnknownThreshold: Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// Twice the number of launch crashes from which repairs are tried.
        case twiceRepairAfter
        /// Unexplained deaths are only counted.
        case never
        /// At least 1.
        case after(Int)

        /// As ``after(_:)``: `unknownAfter: 3`.
        public init(integerLiteral count: Int) { self = .after(count) }
    }
}
