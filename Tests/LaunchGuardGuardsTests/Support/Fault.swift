import LaunchGuardGuards

/// A fault of each guarded operation, which ends a program without guards.
enum Fault: String, CaseIterable, Codable, Sendable {
    case element, store, change, elementOfSlice, elementOfRange
    case range, openRange, reversedRange, pop, remove, insert
    case key, keys
    case sum, difference, product, quotientByZero, quotientOfLeast, remainderByZero, unsignedDifference
    case numberTooGreat, infinity, noNumber, integerTooGreat, negativeInteger
    case noString, offset, offsets, openOffsets, bytes

    var guardClass: GuardClass {
        switch self {
        case .element, .store, .change, .elementOfSlice, .elementOfRange, .range, .openRange, .reversedRange, .pop, .remove, .insert, .key, .keys:
            .container
        case .sum, .difference, .product, .quotientByZero, .quotientOfLeast, .remainderByZero, .unsignedDifference, .numberTooGreat, .infinity,
            .noNumber, .integerTooGreat, .negativeInteger:
            .arithmetic
        case .noString, .offset, .offsets, .openOffsets, .bytes: .string
        }
    }

    /// Meet the fault; returns what its operation gives.
    func meet() -> String {
        let two = opaque(2)
        var numbers = opaque([1, 2, 3]), empty = opaque([Int]())
        switch self {
        case .element: return "\(numbers[guarded: two + 1] as Any)"
        case .store:
            numbers[guarded: -two] = 4
            return "\(numbers)"
        case .change:
            numbers[guarded: two + 1]? += 1
            return "\(numbers)"
        case .elementOfSlice: return "\(numbers[two...][guarded: two - 1] as Any)"
        case .elementOfRange: return "\((0..<two)[guarded: two] as Any)"
        case .range: return "\(numbers[clamped: -two...two])"
        case .openRange: return "\(numbers[clamped: (two + 2)...])"
        case .reversedRange: return "\(numbers[two...][clamped: ..<(two - 1)])"
        case .pop: return "\(empty.popGuarded() as Any)"
        case .remove: return "\(numbers.removeGuarded(at: two + 1) as Any) \(numbers)"
        case .insert: return "\(numbers.insertGuarded(9, at: two + 2)) \(numbers)"
        case .key: return "\(opaque(["a": 1])[guarded: "b"] as Any)"
        case .keys: return "\(Dictionary(guardedUniqueKeysWithValues: [("a", two), ("a", two + 1)]))"
        case .sum: return "\(opaque(Int8.max).adding(guarded: 1)) \(opaque(Int8.min).adding(guarded: -1))"
        case .difference: return "\(opaque(Int.min).subtracting(guarded: two)) \(opaque(Int.max).subtracting(guarded: -two))"
        case .product: return "\(opaque(Int32.max).multiplied(guarded: -2)) \(opaque(Int32.min).multiplied(guarded: -2))"
        case .quotientByZero: return "\(two.divided(guarded: opaque(0))) \((-two).divided(guarded: opaque(0)))"
        case .quotientOfLeast: return "\(opaque(Int16.min).divided(guarded: -1))"
        case .remainderByZero: return "\(two.remainder(guarded: opaque(0))) \(opaque(Int.min).remainder(guarded: -1))"
        case .unsignedDifference: return "\(opaque(UInt(1)).subtracting(guarded: 2))"
        case .numberTooGreat: return "\(Int8(guarded: opaque(128.0))) \(Int(guarded: opaque(-1e19))) \(UInt8(guarded: opaque(-1.0)))"
        case .infinity: return "\(Int32(guarded: opaque(Double.infinity)))"
        case .noNumber: return "\(Int(guarded: opaque(Double.nan)))"
        case .integerTooGreat: return "\(Int8(guarded: opaque(300)))"
        case .negativeInteger: return "\(UInt64(guarded: opaque(-1)))"
        case .noString: return "\"\(unsafe String(guarded: opaque(nil as UnsafePointer<CChar>?)))\""
        case .offset: return "\(opaque("äöü")[guarded: two + 1] as Any)"
        case .offsets: return "\(opaque("äöü")[guarded: two..<9])"
        case .openOffsets: return "\"\(opaque("äöü")[guarded: (two + 2)...])\""
        case .bytes: return String(guardedUTF8: opaque([0x61, 0xFF, 0x62]))
        }
    }

    /// Result of the operation where its fault is survived.
    var neutral: String {
        switch self {
        case .element, .elementOfSlice, .elementOfRange, .pop, .key, .offset: "nil"
        case .store, .change: "[1, 2, 3]"
        case .range: "[1, 2, 3]"
        case .openRange, .reversedRange: "[]"
        case .remove: "nil [1, 2, 3]"
        case .insert: "false [1, 2, 3]"
        case .keys: "[\"a\": 2]"
        case .sum: "127 -128"
        case .difference: "\(Int.min) \(Int.max)"
        case .product: "\(Int32.min) \(Int32.max)"
        case .quotientByZero: "0 0"
        case .quotientOfLeast: "32767"
        case .remainderByZero: "0 0"
        case .unsignedDifference, .noNumber: "0"
        case .numberTooGreat: "127 \(Int.min) 0"
        case .infinity: "\(Int32.max)"
        case .integerTooGreat: "127"
        case .negativeInteger: "0"
        case .noString, .openOffsets: "\"\""
        case .offsets: "ü"
        case .bytes: "a\u{FFFD}b"
        }
    }
}
