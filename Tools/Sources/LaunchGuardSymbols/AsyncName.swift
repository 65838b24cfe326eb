internal import LaunchGuardPlatform

/// Whether a linker name is that of an asynchronous Swift function, or of a part of one.
///
/// The part of a function that runs after an `await` is a function to the linker. A function inside
/// an asynchronous one, such as a closure, is not asynchronous for that. The getter of an
/// asynchronous property is not known by its name, but its parts are.
struct AsyncName {
    let isAsync: Bool

    init(_ mangled: String) {
        isAsync = Self.isMain(mangled) || Self.fullName(of: mangled).map(Self.isAsync) ?? false
    }

    /// The function of an asynchronous program's main, or a part of it after an `await`.
    static func isMain(_ mangled: String) -> Bool { mangled == "async_Main" || mangled.hasPrefix("async_MainT") }

    private static let parts = ["await resume partial function for ", "suspend resume partial function for "]
    /// Data, and functions that have another type than the one in their names.
    private static let others = ["default argument", "curry thunk of ", "async function pointer to ", "method descriptor for "]

    /// By the name in the demangler's words, for example "(2) await resume partial function for
    /// f() async -> ()".
    static func isAsync(_ name: String) -> Bool {
        if name.hasPrefix("("), parts.contains(where: { name.drop { $0 != " " }.dropFirst().hasPrefix($0) }) { return true }
        if others.contains(where: name.hasPrefix) { return false }
        // Not the result, nor the function around a closure.
        let words = outsideOfBrackets(name).split(separator: " ")
        return words.prefix { !["->", "in", ":"].contains($0) }.contains { $0 == "async" || $0 == "@async" }
    }

    private static func outsideOfBrackets(_ name: String) -> String {
        var result = "", depth = 0, last: UInt8 = 0
        for byte in name.utf8 {
            if "([<{".utf8.contains(byte) { depth += 1 }
            if depth == 0 { result.append(Character(Unicode.Scalar(byte))) }
            // An arrow is no bracket.
            if ")]}>".utf8.contains(byte), !(byte == UInt8(ascii: ">") && last == UInt8(ascii: "-")) { depth -= 1 }
            last = byte
        }
        return result
    }

    /// Nil: it is no name of Swift.
    private static func fullName(of mangled: String) -> String? {
        var mangled = mangled
        return mangled.withUTF8 { bytes in
            guard let start = bytes.baseAddress, let name = unsafe swift_demangle(start, UInt(bytes.count), nil, nil, 0) else { return nil }
            defer { unsafe free(name) }
            return unsafe String(cString: name)
        }
    }
}

/// The Swift runtime's own demangler. `Runtime` has the short form alone.
@_silgen_name("swift_demangle")
private func swift_demangle(
    _ mangled: UnsafePointer<UInt8>, _ size: UInt, _ buffer: UnsafeMutablePointer<CChar>?, _ bufferSize: UnsafeMutablePointer<UInt>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
