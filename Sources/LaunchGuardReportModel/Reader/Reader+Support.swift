internal import CLaunchGuard

internal import LaunchGuardPlatform

/// A fixed array of C characters as a string; bytes that are not UTF-8 become U+FFFD.
///
/// Fields and their structures are passed inout only: a tuple of thousands of elements that is
/// passed by value takes the compiler seconds.
func string<Field>(_ field: inout Field, size: Int = .max) -> String {
    unsafe withUnsafeBytes(of: &field) { bytes in
        let end = unsafe size != .max ? min(size, bytes.count) : bytes.firstIndex(of: 0) ?? bytes.count
        return unsafe String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<end]), as: UTF8.self)
    }
}

extension String {
    var nonEmpty: String? { isEmpty ? nil : self }
}

extension UInt64 {
    var nonZero: UInt64? { self == 0 ? nil : self }
}

/// Bytes as hexadecimal digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// The bytes that hexadecimal digits stand for; nil: they do not.
func bytes(hex digits: String) -> [UInt8]? {
    guard digits.utf8.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.utf8.count / 2)
    var high: UInt8?
    for digit in digits.utf8 {
        guard let value = Character(UnicodeScalar(digit)).hexDigitValue.map(UInt8.init) else { return nil }
        if let half = high { bytes.append(half << 4 | value) }
        high = high == nil ? value : nil
    }
    return bytes
}

/// Names and messages of the C library.
enum CLibrary {
    static func statusName(_ status: UInt32) -> String {
        unsafe String(cString: lg_status_name(lg_status(rawValue: status)))
    }

    static func statusMessage(_ status: UInt32) -> String {
        unsafe String(cString: lg_status_message(lg_status(rawValue: status)))
    }

    /// The error of a call that has just failed.
    static func error(_ status: lg_status, path: String) -> ReportError {
        ReportError(code: .init(rawValue: status.rawValue), errno: status == LG_ERR_SYSTEM ? errno : nil, path: path)
    }

    static func systemMessage(_ number: Int32) -> String {
        unsafe String(cString: strerror(number))
    }
}
