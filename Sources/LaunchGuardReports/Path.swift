internal import LaunchGuardPlatform

/// Paths are bytes, and need not be text. As text, a byte that is no part of UTF-8 is the character
/// U+10FF00 plus the byte, so that the text leads back to the file, whatever its name is.
package enum Path {
    private static let escape: UInt32 = 0x10FF00

    private static func isEscape(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= escape + 0x80 }

    /// The byte that a character of a path stands for; nil: the character is itself.
    static func byte(_ scalar: Unicode.Scalar) -> UInt8? { isEscape(scalar) ? UInt8(truncatingIfNeeded: scalar.value) : nil }

    /// The text of a path.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isEscape) { return text }
        var text = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            var parser = Unicode.UTF8.ForwardParser()
            var iterator = rest.makeIterator()
            var size = 1
            if case .valid(let encoded) = parser.parseScalar(from: &iterator), case let scalar = UTF8.decode(encoded), !isEscape(scalar) {
                size = encoded.count
                text.append(scalar)
            } else {
                for byte in rest.prefix(size) { text.append(Unicode.Scalar(escape + UInt32(byte)) ?? "?") }
            }
            rest = rest.dropFirst(size)
        }
        return String(text)
    }

    /// The bytes of a path, without an end.
    package static func bytes(_ text: String) -> [UInt8] {
        guard text.unicodeScalars.contains(where: isEscape) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in byte(scalar).map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// Calls a function of C with a path.
    package static func withCString<Result>(_ text: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let bytes = bytes(text).map(CChar.init(bitPattern:)) + [0]
        return unsafe bytes.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }

    /// A text of C as a path.
    package static func text(_ string: UnsafePointer<CChar>) -> String {
        let bytes = unsafe UnsafeBufferPointer(start: string, count: strlen(string))
        return unsafe text(bytes.map(UInt8.init(bitPattern:)))
    }

    // MARK: - Files

    /// Whether there is a file or a folder, which of both; nil: neither.
    package static func isFolder(_ path: String) throws(ReportError) -> Bool? {
        var status = stat()
        guard unsafe withCString(path, { unsafe stat($0, &status) }) == 0 else { return try missing(path) }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder, in no order; nil: there is no such folder.
    static func names(in folder: String) throws(ReportError) -> [String]? {
        guard let stream = unsafe withCString(folder, { unsafe opendir($0) }) else { return try missing(folder) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            unsafe names.append(withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe text($0) }
            })
        }
        return names
    }

    /// That there is no such file is an answer; everything else is an error.
    private static func missing<Answer>(_ path: String) throws(ReportError) -> Answer? {
        switch errno {
        case ENOENT, ENOTDIR: return nil
        case EACCES, EPERM: throw ReportError(code: .permission, path: path)
        case let error: throw ReportError(code: .system, errno: error, path: path)
        }
    }
}
