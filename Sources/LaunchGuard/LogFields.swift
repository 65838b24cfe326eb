extension LaunchGuard {
    /// Keys and values of a breadcrumb, in their order: `["url": url, "code": "\(code)"]`. C:
    /// `lg_field`.
    public struct LogFields: ExpressibleByDictionaryLiteral, Sendable {
        let pairs: [(String, String)]

        public init(dictionaryLiteral pairs: (String, String)...) {
            self.pairs = pairs
        }

        public init(_ pairs: some Sequence<(String, String)>) {
            self.pairs = Array(pairs)
        }
    }
}
