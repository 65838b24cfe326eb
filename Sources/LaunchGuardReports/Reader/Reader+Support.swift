internal import CLaunchGuard

internal import LaunchGuardPlatform

/// Collects the parts that could not be read.
struct Problems {
    var found: [Problem] = []
    /// Whether a stage that was not committed is one.
    var expectsAllStages = true
    /// What stands before the name of a part.
    var prefix = ""

    /// Whether the part is there. A part that was never meant to be there is no problem.
    mutating func isUsable(_ status: lg_status, _ part: String) -> Bool {
        if status == LG_OK { return true }
        if status != LG_ERR_NOT_FOUND, expectsAllStages || status != LG_ERR_INCOMPLETE { add(part, status) }
        return false
    }

    mutating func add(_ part: String, _ status: lg_status) {
        let problem = Problem(part: prefix + part, code: CLibrary.statusName(status.rawValue), message: CLibrary.statusMessage(status.rawValue))
        if !found.contains(problem) { found.append(problem) }
    }

    /// The items of a part, as far as they can be read: one that is damaged does not hide those
    /// after it.
    mutating func list<Item: ZeroInitialized, Value>(
        _ part: String, limit: UInt32, _ read: (UInt32, inout Item) -> lg_status, as convert: (inout Item) -> Value
    ) -> [Value] {
        var values: [Value] = []
        var item = Item()
        for index in 0..<limit {
            let status = read(index, &item)
            if status == LG_OK { values.append(convert(&item)) }
            if status == LG_OK || status == LG_ERR_DAMAGED && index + 1 < min(limit, 256) {
                if status != LG_OK { add(part, status) }
                continue
            }
            _ = isUsable(status, part)
            break
        }
        return values
    }
}

/// A C type whose plain initialiser makes all bytes zero.
protocol ZeroInitialized {
    init()
}

extension UInt64: ZeroInitialized {}
extension lg_run_context: ZeroInitialized {}
extension lg_register: ZeroInitialized {}
extension lg_note: ZeroInitialized {}
extension lg_module: ZeroInitialized {}
extension lg_memory_info: ZeroInitialized {}
extension lg_heart_info: ZeroInitialized {}
extension lg_deadline_info: ZeroInitialized {}

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

/// The strings of a fixed array, each with a NUL; an empty one ends the list.
func list<Field>(_ field: inout Field) -> [String] {
    unsafe withUnsafeBytes(of: &field) { bytes in
        unsafe bytes.split(separator: 0, omittingEmptySubsequences: false).prefix { unsafe !$0.isEmpty }.map {
            unsafe String(decoding: $0, as: UTF8.self)
        }
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

    static func kindName(_ kind: lg_crash_kind) -> String {
        let name = unsafe String(cString: lg_crash_kind_name(kind))
        return name == "invalid" ? "kind \(kind.rawValue)" : name
    }

    /// Of a call that has just failed.
    static func error(_ status: lg_status, path: String) -> ReportError {
        ReportError(code: .init(rawValue: status.rawValue), errno: status == LG_ERR_SYSTEM ? errno : nil, path: path)
    }

    static func systemMessage(_ number: Int32) -> String {
        unsafe String(cString: strerror(number))
    }
}
