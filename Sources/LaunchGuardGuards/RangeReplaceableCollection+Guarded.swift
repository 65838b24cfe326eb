extension RangeReplaceableCollection where Self: RandomAccessCollection {
    /// Remove the last element. An empty collection answers `nil` where the fault is survived;
    /// else `removeLast()` ends the program.
    @_transparent @discardableResult
    public mutating func popGuarded() -> Element? {
        if _fastPath(!isEmpty) { return removeLast() }
        return survivesEmpty(self) ? nil : removeLast()
    }

    /// Remove the element at an index. With no element there: `nil` where the fault is survived,
    /// else what `remove(at:)` does, which ends the program.
    @_transparent @discardableResult
    public mutating func removeGuarded(at index: Index) -> Element? {
        if _fastPath(index >= startIndex && index < endIndex) { return remove(at: index) }
        return survivesIndex(index, of: self) ? nil : remove(at: index)
    }

    /// Insert an element before the one at an index, or at the end. Elsewhere: nothing where the
    /// fault is survived, else what `insert(_:at:)` does, which ends the program.
    ///
    /// - Returns: whether it was inserted.
    @_transparent @discardableResult
    public mutating func insertGuarded(_ element: Element, at index: Index) -> Bool {
        if _fastPath(index >= startIndex && index <= endIndex) || !survivesIndex(index, of: self) {
            insert(element, at: index)
            return true
        }
        return false
    }
}
