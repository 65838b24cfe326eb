extension RandomAccessCollection where Index == Int {
    /// The elements of a range. A range that is not wholly inside has those elements that there are
    /// where the fault is survived; else the collection's own subscript ends the program. A side
    /// that the range leaves open is no fault, as long as the other one is inside.
    @inlinable
    public subscript(clamped range: some RangeExpression<Int>) -> SubSequence {
        @_transparent get {
            let asked = range.relative(to: EveryInt()), first = startIndex, end = endIndex
            let lower = asked.lowerBound == .min ? first : asked.lowerBound, upper = asked.upperBound == .max ? end : asked.upperBound
            if _fastPath(lower >= first && upper <= end && lower <= upper) { return self[lower..<upper] }
            guard survivesRange(lower, upper, of: self) else { return self[range] }
            let start = Swift.min(Swift.max(lower, first), end)
            return self[start..<Swift.max(start, Swift.min(upper, end))]
        }
    }
}

/// A collection with every `Int` as an index: what a range leaves open becomes `Int.min` or
/// `Int.max`.
@frozen @usableFromInline
struct EveryInt: Collection {
    @inlinable init() {}
    @inlinable var startIndex: Int { .min }
    @inlinable var endIndex: Int { .max }
    @inlinable func index(after index: Int) -> Int { index == .max ? .max : index + 1 }
    @inlinable subscript(index: Int) -> Int { index }
}
