// Every operation here and in the neighbours is @_transparent: the call of a slow path then stands
// in the function that uses the operation, in debug builds too, and is the site of the fault.

extension RandomAccessCollection {
    /// The element at an index. With no element there: `nil` where the fault is survived, else
    /// what the collection's own subscript does, which ends the program.
    @inlinable
    public subscript(guarded index: Index) -> Element? {
        @_transparent get {
            if _fastPath(index >= startIndex && index < endIndex) { return self[index] }
            return survivesIndex(index, of: self) ? nil : self[index]
        }
    }
}

extension RandomAccessCollection where Self: MutableCollection {
    /// The element at an index. With no element there: `nil` where the fault is survived, and what
    /// is stored is lost; else what the collection's own subscript does, which ends the program.
    ///
    /// `nil` is never stored. A change in place changes a copy, which is stored then:
    /// `names[guarded: 3]?.append("!")`. All changes in place of one type count as one site.
    @inlinable
    public subscript(guarded index: Index) -> Element? {
        @_transparent get {
            if _fastPath(index >= startIndex && index < endIndex) { return self[index] }
            return survivesIndex(index, of: self) ? nil : self[index]
        }
        @_transparent set {
            guard let newValue else { return }
            if _fastPath(index >= startIndex && index < endIndex) || !survivesIndex(index, of: self) { self[index] = newValue }
        }
    }
}
