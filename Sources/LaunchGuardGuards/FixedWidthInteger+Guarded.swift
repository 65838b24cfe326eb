/// Checked arithmetic. There are no methods for shifts: those of Swift never end the program.
extension FixedWidthInteger {
    /// The sum. Where it does not fit: the nearest value where the fault is survived, else what `+`
    /// does, which ends the program.
    @_transparent
    public func adding(guarded right: Self) -> Self {
        let (sum, isOver) = addingReportingOverflow(right)
        if _fastPath(!isOver) { return sum }
        return survivesArithmetic(self, "+", right) ? (right < 0 ? .min : .max) : self + right
    }

    /// The difference. Where it does not fit: the nearest value where the fault is survived, else
    /// what `-` does, which ends the program.
    @_transparent
    public func subtracting(guarded right: Self) -> Self {
        let (difference, isOver) = subtractingReportingOverflow(right)
        if _fastPath(!isOver) { return difference }
        return survivesArithmetic(self, "-", right) ? (right < 0 ? .max : .min) : self - right
    }

    /// The product. Where it does not fit: the nearest value where the fault is survived, else what
    /// `*` does, which ends the program.
    @_transparent
    public func multiplied(guarded right: Self) -> Self {
        let (product, isOver) = multipliedReportingOverflow(by: right)
        if _fastPath(!isOver) { return product }
        return survivesArithmetic(self, "*", right) ? ((self < 0) == (right < 0) ? .max : .min) : self * right
    }

    /// The quotient. Where the fault is survived, a division by zero makes 0, and the least value
    /// by -1 the greatest value; else `/` ends the program.
    @_transparent
    public func divided(guarded right: Self) -> Self {
        let (quotient, isOver) = dividedReportingOverflow(by: right)
        if _fastPath(!isOver) { return quotient }
        return survivesArithmetic(self, "/", right) ? (right == 0 ? 0 : .max) : self / right
    }

    /// The remainder of a division. A division by zero, and the least value by -1, make 0 where
    /// the fault is survived; else `%` ends the program.
    @_transparent
    public func remainder(guarded right: Self) -> Self {
        let (remainder, isOver) = remainderReportingOverflow(dividingBy: right)
        if _fastPath(!isOver) { return remainder }
        return survivesArithmetic(self, "%", right) ? 0 : self % right
    }

    /// The number as another type, with its fraction cut. A number that does not fit: the nearest
    /// value, 0 for one that is none, where the fault is survived; else what `init(_:)` does, which
    /// ends the program.
    @_transparent
    public init(guarded number: Double) {
        let limit = Double(bitPattern: UInt64(1023 + Self.bitWidth - (Self.isSigned ? 1 : 0)) << 52)
        let least = Self.isSigned ? -limit : 0
        // The difference of one is lost beside a great limit.
        let isFitting = number < limit && (number >= least || number > least - 1)
        if _fastPath(isFitting) && Self.bitWidth <= 64 {
            // The initializer for any number and any integer is slow.
            self = Self.isSigned ? Self(truncatingIfNeeded: Int64(number)) : Self(truncatingIfNeeded: UInt64(number))
        } else if isFitting || !survivesConversion(number, to: Self.self) {
            self.init(number)
        } else {
            self = number > 0 ? .max : number < 0 ? .min : 0
        }
    }

    /// The number as another type. A number that does not fit: the nearest value where the fault is
    /// survived, else what `init(_:)` does, which ends the program.
    @_transparent
    public init(guarded number: some BinaryInteger) {
        if let exact = Self(exactly: number) { self = exact } else {
            self = survivesConversion(number, to: Self.self) ? Self(clamping: number) : Self(number)
        }
    }
}
