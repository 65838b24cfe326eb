extension StringProtocol {
    /// The character at an offset. With none there: `nil` where the fault is survived, else what
    /// `self[index(startIndex, offsetBy: offset)]` does, which ends the program. The offset is
    /// counted from the start, at each call.
    public subscript(guarded offset: Int) -> Character? {
        @_transparent get {
            if offset >= 0, let place = index(startIndex, offsetBy: offset, limitedBy: endIndex), place < endIndex { return self[place] }
            return survivesOffset(offset, of: self) ? nil : self[index(startIndex, offsetBy: offset)]
        }
    }

    /// The characters of a range of offsets. A range that is not wholly inside has those characters
    /// that there are where the fault is survived; else `self[index(…)..<index(…)]` ends the
    /// program. The offsets are counted from the start, at each call.
    public subscript(guarded offsets: some RangeExpression<Int>) -> SubSequence {
        @_transparent get {
            let asked = offsets.relative(to: EveryInt())
            let lower = asked.lowerBound == .min ? 0 : asked.lowerBound, upper = asked.upperBound
            if lower >= 0, let start = index(startIndex, offsetBy: lower, limitedBy: endIndex) {
                if upper == .max { return self[start...] }
                if upper >= lower, let end = index(start, offsetBy: upper - lower, limitedBy: endIndex) { return self[start..<end] }
            }
            guard survivesOffsets(lower, upper, of: self) else {
                return self[index(startIndex, offsetBy: lower)..<(upper == .max ? endIndex : index(startIndex, offsetBy: upper))]
            }
            return prefix(Swift.max(upper, 0)).dropFirst(Swift.max(lower, 0))
        }
    }
}

extension String {
    /// The text of a string of C, repaired where it is not valid. A null pointer makes "" where the
    /// fault is survived; else `String(cString: pointer!)` ends the program.
    @_transparent @unsafe
    public init(guarded pointer: UnsafePointer<CChar>?) {
        if let pointer = unsafe pointer { self = unsafe String(cString: pointer) } else {
            self = survivesNull() ? "" : unsafe String(cString: pointer!)
        }
    }

    /// The text of bytes that must be valid UTF-8. Others make a text with U+FFFD in the place of
    /// what is not valid where the fault is survived; else
    /// `String(validating: bytes, as: UTF8.self)!` ends the program.
    @_transparent
    public init(guardedUTF8 bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) { self = text } else {
            self = survivesInvalid(bytes.count) ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)!
        }
    }
}
