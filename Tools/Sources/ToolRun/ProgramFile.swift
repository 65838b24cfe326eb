#if os(Linux)
import CProcess
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// The file that a command names, found as a shell finds it.
package struct ProgramFile {
    package let path: String

    package init(_ name: String) throws(RunError) {
        guard !name.isEmpty else { throw RunError(RunError.noProgram, "the name of the program is empty") }
        if name.contains("/") {
            path = name
            if let error = Self.refusal(name) { throw Self.refused(name, error) }
            return
        }
        var refusal = ENOENT
        for folder in (Output.variable("PATH") ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false) {
            let candidate = folder.isEmpty ? name : "\(folder)/\(name)"
            guard let error = Self.refusal(candidate) else {
                path = candidate
                return
            }
            if error == EACCES || error == EISDIR { refusal = EACCES }
        }
        throw refusal == ENOENT
            ? RunError(RunError.noProgram, "\(name): there is no such program in the folders of PATH")
            : RunError(RunError.cannotRun, "\(name): the program in the folders of PATH may not be run")
    }

    /// Why a file is no program, as a number of the system; nil: it is one.
    private static func refusal(_ path: String) -> Int32? {
        var status = stat()
        guard unsafe ReportPath.withCString(path, { unsafe stat($0, &status) }) == 0 else { return errno }
        if status.st_mode & S_IFMT == S_IFDIR { return EISDIR }
        return unsafe ReportPath.withCString(path) { unsafe faccessat(AT_FDCWD, $0, X_OK, AT_EACCESS) } == 0 ? nil : errno
    }

    private static func refused(_ path: String, _ error: Int32) -> RunError {
        switch error {
        case ENOENT, ENOTDIR: RunError(RunError.noProgram, "\(path): there is no such program")
        case EISDIR: RunError(RunError.cannotRun, "\(path): it is a directory")
        case EACCES: RunError(RunError.cannotRun, "\(path): it may not be run; chmod +x makes a file a program")
        default: RunError(RunError.cannotRun, "\(path): \(RunError.reason(error))")
        }
    }

    /// Meaning of the system's refusal to run the program.
    func refused(_ error: Int32) -> RunError {
        let status = error == ENOENT ? RunError.noProgram : RunError.cannotRun
        let files = Self.interpreters(of: path)
        if error == ENOENT, let missing = files.last, missing != path {
            return RunError(status, "\(path): its interpreter \(missing) is not there")
        }
        return RunError(status, "\(path): \(RunError.reason(error))")
    }

    /// The obstacle for the preload library in the program; nil: there is none.
    var obstacle: PreloadObstacle? {
        // A script has the rights of its interpreter.
        Self.interpreters(of: path).lazy.compactMap { PreloadObstacle($0) }.first
    }

    /// The file, for a script its interpreter after it, and so on as far as the kernel goes; the
    /// last one is no script.
    private static func interpreters(of path: String) -> [String] {
        var files = [path]
        while files.count < 6, let head = ProgramHead(files[files.count - 1], size: 256), head.bytes.starts(with: "#!".utf8) {
            let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            let line = head.bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }
            let name = line.drop(while: blanks.contains).prefix { !blanks.contains($0) }
            guard !name.isEmpty else { break }
            files.append(ReportPath.text(name))
        }
        return files
    }
}

/// The first bytes of a file, in which numbers are read within bounds.
struct ProgramHead {
    let bytes: [UInt8]

    init?(_ path: String, offset: UInt64 = 0, size: Int) {
        let file = unsafe ReportPath.withCString(path) { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = unsafe pread(file, &bytes, size, off_t(truncatingIfNeeded: offset))
        guard count > 0 else { return nil }
        self.bytes = Array(bytes.prefix(count))
    }

    /// A number of this machine's byte order; nil: it is beyond the end.
    func number<Number: FixedWidthInteger>(at offset: Int, as: Number.Type) -> Number? {
        let size = MemoryLayout<Number>.size
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Number($1) }
    }
}
#endif
