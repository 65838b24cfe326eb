import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

/// A file that could not be written.
package struct ExportError: Error, CustomStringConvertible {
    package var path: String
    package var problem: Int32

    package init(path: String, problem: Int32) {
        self.path = path
        self.problem = problem
    }

    package var description: String { "\(path): it cannot be written: \(unsafe String(cString: strerror(problem)))" }
}

/// A file that has its name once it is whole, and that only its owner may read.
package enum WholeFile {
    /// Writes beside the name first, and then takes the place of what has the name: of a plain file
    /// or of none. A pipe or a device gets the bytes as they come. Throws `ExportError`.
    package static func write(_ bytes: [UInt8], to path: String) throws { try write(to: path) { write(bytes, to: $0) } }

    /// The same of what is too much for one array.
    ///
    /// - Parameter contents: writes to a file as `write(_:to:)` of a descriptor does, and says what
    ///   that does. No file stays if it throws.
    package static func write(to path: String, _ contents: (Int32) throws -> Bool) throws {
        let end = followed(path)
        var status = stat()
        if unsafe ReportPath.withCString(end, { unsafe stat($0, &status) }) == 0, status.st_mode & S_IFMT != S_IFREG {
            return try fill(end, O_WRONLY, contents)
        }
        // The longest name that a file may have leaves no room for more.
        let folder = end.lastIndex(of: "/").map { end[...$0] } ?? ""
        let beside = "\(folder).launchguard-\(getpid()).part"
        do {
            try fill(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, contents)
            guard unsafe ReportPath.withCString(beside, { from in unsafe ReportPath.withCString(end) { unsafe rename(from, $0) } }) == 0 else {
                throw ExportError(path: path, problem: errno)
            }
        } catch {
            let problem = (error as? ExportError)?.problem
            if problem != EEXIST { unsafe ReportPath.withCString(beside) { _ = unsafe unlink($0) } }
            throw problem.map { ExportError(path: path, problem: $0) } ?? error
        }
    }

    /// Whether all bytes are written; if not, `errno` says why.
    package static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe LaunchGuardPlatform.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }

    private static func fill(_ path: String, _ flags: Int32, _ contents: (Int32) throws -> Bool) throws {
        let file = unsafe ReportPath.withCString(path) { unsafe open($0, flags | O_CLOEXEC | O_NOCTTY, 0o600) }
        guard file >= 0 else { throw ExportError(path: path, problem: errno) }
        let isWritten: Bool
        do {
            isWritten = try contents(file)
        } catch {
            close(file)
            throw error
        }
        var problem = isWritten ? 0 : errno
        // A disk may say only now that it is full. A pipe has nothing to wait for.
        if isWritten, fsync(file) != 0, errno != EINVAL, errno != EROFS { problem = errno }
        if close(file) != 0, problem == 0 { problem = errno }
        guard problem == 0 else { throw ExportError(path: path, problem: problem) }
    }

    /// The path that a link leads to, or the path itself.
    private static func followed(_ path: String) -> String {
        guard let real = unsafe ReportPath.withCString(path, { unsafe realpath($0, nil) }) else { return path }
        defer { unsafe free(real) }
        return unsafe ReportPath.text(cString: real)
    }
}
