/// The text of a breadcrumb as it stands in the source, with values in it: `"request \(number) took
/// \(duration) ms"`.
///
/// The compiler makes one from the literal in a call of `session.log()`; there is no need to make
/// one. A literal is copied only into the ring log. Strings, numbers, truth values and cases of
/// enumerations are put together in one buffer. For any other value its description is used, as by
/// a `String`.
@frozen public struct LogMessage: ExpressibleByStringInterpolation {
    @usableFromInline let literal: StaticString
    @usableFromInline let interpolation: StringInterpolation?

    /// The message of a literal without values.
    @inlinable public init(stringLiteral literal: StaticString) {
        self.literal = literal
        interpolation = nil
    }

    /// The message of a literal with values.
    @inlinable public init(stringInterpolation interpolation: StringInterpolation) {
        literal = ""
        self.interpolation = interpolation
    }

    /// Builds the text from its parts.
    @safe
    public struct StringInterpolation: StringInterpolationProtocol {
        private typealias Owner = ManagedBuffer<Void, UInt8>

        /// Keeps the bytes, because a request for their address each time would cost a retain and a
        /// release. On the heap: a buffer in place is copied several times, which costs more.
        private var owner: Owner
        private var bytes: UnsafeMutablePointer<UInt8>
        private var count = 0
        private var capacity: Int

        /// Begin an empty text with room for what the compiler knows of it.
        public init(literalCapacity: Int, interpolationCount: Int) {
            capacity = literalCapacity + 24 * interpolationCount
            (owner, unsafe bytes) = unsafe Self.allocate(capacity)
        }

        /// Append a part that is constant.
        public mutating func appendLiteral(_ literal: StaticString) {
            literal.withUTF8Buffer { unsafe append($0) }
        }

        /// Append a text.
        public mutating func appendInterpolation(_ text: String) {
            var text = text
            text.withUTF8 { unsafe append($0) }
        }

        /// Append a part of a text.
        public mutating func appendInterpolation(_ text: Substring) {
            var text = text
            text.withUTF8 { unsafe append($0) }
        }

        /// Append a constant text.
        public mutating func appendInterpolation(_ text: StaticString) {
            appendLiteral(text)
        }

        /// Append an integer in decimal digits.
        @inlinable public mutating func appendInterpolation<Number: FixedWidthInteger>(_ number: Number) {
            if let magnitude = UInt64(exactly: number.magnitude) {
                append(decimal: magnitude, isNegative: number < (0 as Number))
            } else {
                appendInterpolation(number.description)
            }
        }

        /// Append "true" or "false".
        public mutating func appendInterpolation(_ value: Bool) {
            appendLiteral(value ? "true" : "false")
        }

        /// Append a number in as many digits as distinguish it from its neighbours.
        public mutating func appendInterpolation(_ number: Double) {
            appendInterpolation(number.description)
        }

        /// Append the description of a value.
        @inlinable public mutating func appendInterpolation<Value: CustomStringConvertible>(_ value: Value) {
            appendInterpolation(value.description)
        }

        /// Append the text of a value that writes itself.
        @inlinable public mutating func appendInterpolation<Value: CustomStringConvertible & TextOutputStreamable>(_ value: Value) {
            var text = ""
            value.write(to: &text)
            appendInterpolation(text)
        }

        /// Append the description of a value. The name of an enumeration's case is looked up once.
        public mutating func appendInterpolation<Value>(_ value: Value) {
            if let name = unsafe CaseNames.name(of: value) { return unsafe append(name) }
            appendInterpolation(String(describing: value))
        }

        /// Append the description of a type.
        public mutating func appendInterpolation(_ type: any Any.Type) {
            appendInterpolation(String(describing: type))
        }

        @usableFromInline mutating func append(decimal magnitude: UInt64, isNegative: Bool) {
            let longest = 20
            reserve(longest + 1)
            if isNegative {
                unsafe bytes[count] = 0x2d
                count += 1
            }
            var rest = magnitude, size = 1, power: UInt64 = 10
            while size < longest, rest >= power {
                size += 1
                power = size < longest ? power * 10 : power
            }
            count += size
            for place in 1...size {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                unsafe bytes[count - place] = UInt8(truncatingIfNeeded: digit) + 0x30
                rest = quotient
            }
        }

        private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
            guard let start = text.baseAddress else { return }
            reserve(text.count)
            unsafe (bytes + count).update(from: start, count: text.count)
            count += text.count
        }

        /// Make room for this number of further bytes, in a buffer that no copy shares.
        private mutating func reserve(_ more: Int) {
            if more > capacity - count || !isKnownUniquelyReferenced(&owner) { grow(by: more) }
        }

        @inline(never) private mutating func grow(by more: Int) {
            let old = owner
            let oldBytes = unsafe bytes
            capacity = 2 * (count + more)
            (owner, unsafe bytes) = unsafe Self.allocate(capacity)
            unsafe bytes.update(from: oldBytes, count: count)
            withExtendedLifetime(old) {}
        }

        private static func allocate(_ capacity: Int) -> (Owner, UnsafeMutablePointer<UInt8>) {
            let owner = Owner.create(minimumCapacity: capacity) { _ in () }
            return unsafe (owner, owner.withUnsafeMutablePointerToElements { unsafe $0 })
        }

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            withExtendedLifetime(owner) { unsafe body(UnsafeRawBufferPointer(start: bytes, count: count)) }
        }
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let interpolation { return unsafe interpolation.withBytes(body) }
        return literal.withUTF8Buffer { unsafe body(UnsafeRawBufferPointer($0)) }
    }
}
