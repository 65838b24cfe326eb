internal import LaunchGuardPlatform

/// Paths are bytes, and need not be text. As text, a byte that is no part of UTF-8 is the character
/// U+10FF00 plus the byte, so that the text leads back to the file, whatever its name is.
public enum ReportPath {
    private static let escape: UInt32 = 0x10FF00

    private static func isEscape(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= escape + 0x80 }

    /// The byte that a character of a path stands for; nil: the character is itself.
    static func byte(_ scalar: Unicode.Scalar) -> UInt8? { isEscape(scalar) ? UInt8(truncatingIfNeeded: scalar.value) : nil }

    /// The text of a path.
    public static func text(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        if let text = valid(bytes), !text.unicodeScalars.contains(where: isEscape) { return text }
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
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

    /// Nil: the bytes are no text. The function of C strings is one for all types of text, and its
    /// first call takes a tenth of the time.
    private static func valid(_ bytes: [UInt8]) -> String? {
        if bytes.contains(0) { return String(validating: bytes, as: UTF8.self) }
        return unsafe (bytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { unsafe String(validatingCString: $0.baseAddress!) }
    }

    /// The bytes of a path, without an end.
    public static func bytes(_ text: String) -> [UInt8] {
        guard text.unicodeScalars.contains(where: isEscape) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in byte(scalar).map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// Calls a function of C with a path.
    public static func withCString<Result>(_ text: String, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let bytes = bytes(text).map(CChar.init(bitPattern:)) + [0]
        return unsafe bytes.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }

    /// A text of C as a path.
    public static func text(cString string: UnsafePointer<CChar>) -> String {
        if let text = unsafe String(validatingCString: string), !text.unicodeScalars.contains(where: isEscape) { return text }
        let bytes = unsafe UnsafeBufferPointer(start: string, count: strlen(string))
        return unsafe text(bytes.map(UInt8.init(bitPattern:)))
    }

    // MARK: - Files

    /// Whether there is a file or a folder, which of both; nil: neither.
    public static func isFolder(_ path: String) throws(ReportError) -> Bool? {
        var status = stat()
        guard unsafe withCString(path, { unsafe stat($0, &status) }) == 0 else { return try missing(path) }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// The user that a folder belongs to; nil: there is no such folder. A link is no folder.
    static func owner(ofFolder path: String) throws(ReportError) -> UInt32? {
        var status = stat()
        guard unsafe withCString(path, { unsafe lstat($0, &status) }) == 0 else { return try missing(path) }
        return status.st_mode & S_IFMT == S_IFDIR ? status.st_uid : nil
    }

    /// Whether there is a folder, and no link to one.
    public static func isPlainFolder(_ path: String) -> Bool { (try? owner(ofFolder: path)).flatMap(\.self) != nil }

    /// The folder of the file that a symbolic link leads to; nil: there is no such link.
    public static func folder(ofLink path: String) -> String? {
        target(ofLink: path).flatMap { target in target.lastIndex(of: "/").map { String(target[..<$0]) } }
    }

    /// The path in a symbolic link; nil: there is no such link.
    static func target(ofLink path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe withCString(path) { path in
            unsafe bytes.withUnsafeMutableBytes { unsafe readlink(path, $0.bindMemory(to: CChar.self).baseAddress!, $0.count) }
        }
        return count > 0 ? text(bytes[..<count]) : nil
    }

    /// The first bytes of a file as text; nil: there is no such plain file, or it may not be read.
    public static func firstBytes(of path: String, _ limit: Int) -> String? {
        guard let file = openPlain(path) else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe read(file, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Whether a living process has locked a file, as the agent does and every writer of
    /// LaunchGuard's files.
    static func isLocked(_ path: String) -> Bool {
        #if os(Linux)
        guard let file = openPlain(path) else { return false }
        defer { close(file) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let ofdGetLock: Int32 = 36  // F_OFD_GETLK, for which not every C library has a name here
        return unsafe fcntl(file, ofdGetLock, &lock) == 0 && lock.l_type != F_UNLCK
        #else
        return false
        #endif
    }

    private static func openPlain(_ path: String) -> Int32? {
        let file = unsafe withCString(path) { unsafe open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard file >= 0 else { return nil }
        var status = stat()
        if unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return file }
        close(file)
        return nil
    }

    /// The names in a folder, in no order; nil: there is no such folder.
    public static func names(in folder: String) throws(ReportError) -> [String]? {
        guard let stream = unsafe withCString(folder, { unsafe opendir($0) }) else { return try missing(folder) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            unsafe names.append(withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe text(cString: $0) }
            })
        }
        return names
    }

    /// A missing file is an answer; everything else is an error.
    private static func missing<Answer>(_ path: String) throws(ReportError) -> Answer? {
        switch errno {
        case ENOENT, ENOTDIR: return nil
        case EACCES, EPERM: throw ReportError(code: .permission, path: path)
        case let error: throw ReportError(code: .system, errno: error, path: path)
        }
    }
}
