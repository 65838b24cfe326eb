/// Keys and values of a breadcrumb: `["url": url, "code": "\(code)", "user": user?.name]`. A field
/// whose value is `nil` is left out.
public struct LogFields: ExpressibleByDictionaryLiteral, Sendable {
    let pairs: [(String, String)]

    /// In the order of the literal.
    public init(dictionaryLiteral pairs: (String, String?)...) {
        self.init(pairs)
    }

    /// In the order of the sequence.
    public init(_ pairs: some Sequence<(String, String?)>) {
        self.pairs = pairs.compactMap { key, value in value.map { (key, $0) } }
    }

    /// In the order of the sequence.
    @_disfavoredOverload
    public init(_ pairs: some Sequence<(String, String)>) {
        self.pairs = Array(pairs)
    }

    /// In the order of the keys, as a dictionary has none.
    public init(_ fields: [String: String]) {
        pairs = fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
