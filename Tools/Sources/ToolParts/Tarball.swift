import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel
import Synchronization
import ToolBase

/// The state directories in a tarball. The system's `tar` unpacks their files into a private
/// folder; all else in the tarball stays there.
///
/// The tool then works in that folder, so that a file has the path that a person would write:
/// `device.tar/var/lib/notes/ledger.lg`.
package enum Tarball {
    package static let suffixes = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.bz2", ".tbz2"]
    private static let patterns = ["*ledger.lg", "*.lgrun", "*.lgreport", "*spool/config", "*spool/consent", "*spool/off"]

    private static let mostBytes = 512 << 20
    private static let mostFiles = 20_000

    private struct State {
        var scratch: ScratchFolder?
        var isDamaged = false
    }

    private static let state = Mutex(State())

    /// The folder in which the tool was started.
    private static let start: String? = {
        var bytes = [CChar](repeating: 0, count: 4096)
        guard unsafe getcwd(&bytes, bytes.count) != nil else { return nil }
        return unsafe bytes.withUnsafeBufferPointer { unsafe ReportPath.text(cString: $0.baseAddress!) }
    }()

    /// A path that was meant from the folder in which the tool was started.
    package static func fromStart(_ path: String) -> String {
        guard state.withLock({ $0.scratch != nil }), !path.hasPrefix("/"), let start else { return path }
        return start + "/" + path
    }

    /// Whether the tarball was cut short or damaged, after `end()`.
    package static var isDamaged: Bool { state.withLock { $0.isDamaged } }

    /// Removes what was unpacked, and goes back to where the tool was started.
    package static func end() {
        state.withLock { state in
            guard let scratch = state.scratch else { return }
            if let start { _ = ReportPath.enter(start) }
            scratch.remove()
            state.scratch = nil
        }
    }

    /// Unpacks the tarball that an argument names, alone or as the begin of a path; the path to use
    /// instead; nil: it names none.
    package static func unpack(_ argument: String) throws -> String? {
        guard let tarball = path(in: argument) else { return nil }
        let name = tarball.split(separator: "/").last.map(String.init) ?? tarball
        let start = start ?? "."
        guard let scratch = ScratchFolder(), ReportPath.makeFolder(scratch.path + "/" + name) else { throw noRoom(for: argument, errno) }
        state.withLock { $0.scratch = scratch }
        let extraction = TarballExtraction(tarball.hasPrefix("/") ? tarball : start + "/" + tarball, into: name, of: scratch.path)
        let problem: String?
        do {
            problem = try extraction.run(patterns, mostBytes: mostBytes, mostFiles: mostFiles)
        } catch let error as ExportError {
            throw noRoom(for: argument, error.problem)
        }
        let refused = ReportPath.removeAllButPlainFiles(in: scratch.path + "/" + name)
        if refused > 0 { Output.complain("\(tarball): \(refused) links or special files are left out") }
        if let problem {
            Output.complain("\(tarball): tar says: \(problem)")
            state.withLock { $0.isDamaged = true }
        }
        guard ReportPath.enter(scratch.path) else { throw ReportError(code: .system, errno: errno, path: scratch.path) }
        return name + argument.dropFirst(tarball.count)
    }

    private static func noRoom(for argument: String, _ problem: Int32) -> ExitCode {
        Output.complain("\(argument): it cannot be unpacked: \(unsafe String(cString: strerror(problem))); set TMPDIR to a folder with more room")
        return ExitStatus.nothingFound.code
    }

    /// The part of a path that names a tarball.
    package static func path(in argument: String) -> String? {
        let slashes = argument.utf8.indices.filter { argument.utf8[$0] == UInt8(ascii: "/") }
        return (slashes + [argument.endIndex]).lazy.map { String(argument[..<$0]) }.first { path in
            suffixes.contains(where: path.hasSuffix) && ReportPath.isPlainFile(path)
        }
    }
}
