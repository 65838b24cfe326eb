extension Dictionary {
    /// The value of a key that must be there. Without it: `nil` where the fault is survived, else
    /// what `dictionary[key]!` does, which ends the program. For a key that may be missing, the
    /// dictionary's own subscript is the right one.
    @inlinable
    public subscript(guarded key: Key) -> Value? {
        @_transparent get {
            if let value = self[key] { return value }
            return survivesMissing(key, in: Self.self) ? nil : .some(self[key]!)
        }
    }

    /// A dictionary of pairs whose keys must differ. With a key that comes twice: its first value
    /// counts where the fault is survived, else what `init(uniqueKeysWithValues:)` does, which ends
    /// the program.
    @_transparent
    public init(guardedUniqueKeysWithValues pairs: some Sequence<(Key, Value)>) {
        let pairs = Array(pairs)
        self.init(pairs) { first, _ in first }
        if _slowPath(count < pairs.count), !survivesDuplicates(pairs.count - count, in: Self.self) {
            self.init(uniqueKeysWithValues: pairs)
        }
    }
}
