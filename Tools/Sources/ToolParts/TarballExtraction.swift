import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// One run of `tar` on a tarball that may be hostile. tar itself strips a leading "/", refuses ".."
/// and makes links last; the shell bounds each file and the processor time, and the tool all files.
package struct TarballExtraction {
    private let tarball: String
    /// With the folder to unpack into, and what tar says.
    private let scratch: String
    private let folder: String

    private var errors: String { scratch + "/errors" }

    /// So much of a disk is kept for what tar says, which may be that the disk is full.
    private static let errorBytes = 65536

    package init(_ tarball: String, into name: String, of scratch: String) {
        self.tarball = tarball
        self.scratch = scratch
        folder = scratch + "/" + name
    }

    /// 256 MiB a file, 60 s of processor time. TAR_OPTIONS could take a protection away.
    private static let script = """
        tarball=$1 folder=$2 errors=$3
        shift 3
        unset TAR_OPTIONS
        umask 077
        ulimit -c 0; ulimit -t 60; ulimit -f 524288
        LC_ALL=C exec tar --extract --verbose --force-local --no-same-owner --no-same-permissions \\
            --wildcards --wildcards-match-slash --anchored --file="$tarball" --directory="$folder" -- "$@" 2<>"$errors"
        """

    /// Unpacks the files that match the patterns. Returns tar's message about a tarball that it
    /// cannot read whole; nil: none. Throws `ExportError` where the disk has no room for the files.
    package func run(_ patterns: [String], mostBytes: Int, mostFiles: Int) throws -> String? {
        try WholeFile.write([UInt8](repeating: 0, count: Self.errorBytes), to: errors)
        guard let names = Pipe() else { throw ReportError(code: .system, errno: errno, path: tarball) }
        defer { close(names.reading) }
        let tar = ChildProcess(script: Self.script, [tarball, folder, errors] + patterns, output: names.writing)
        close(names.writing)
        guard let tar else { throw ReportError(code: .system, errno: errno, path: tarball) }
        var files = 0
        var isTooMuch = false
        // A look at all files takes the longer, the more there are: it is no more than a fifth of
        // the time.
        let clock = ContinuousClock()
        var next = clock.now + .milliseconds(50)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            // tar prints the name of each file before it unpacks it.
            let size = unsafe read(names.reading, &buffer, buffer.count)
            if size < 0, errno == EINTR { continue }
            if size <= 0 { break }
            files += buffer.prefix(size).count { $0 == UInt8(ascii: "\n") }
            guard !isTooMuch, files > mostFiles || clock.now > next else { continue }
            let looked = clock.now
            isTooMuch = files > mostFiles || ReportPath.size(ofFolder: scratch) > mostBytes
            next = clock.now + max(.milliseconds(50), looked.duration(to: clock.now) * 4)
            if isTooMuch { tar.stop() }
        }
        let isWhole = tar.wait()
        guard !isTooMuch, files <= mostFiles, ReportPath.size(ofFolder: scratch) <= mostBytes else {
            Output.complain("\(tarball): it holds more than \(mostFiles) files or \(mostBytes >> 20) MiB of LaunchGuard; unpack it, and name the folder")
            throw ExitStatus.nothingFound.code
        }
        guard !isWhole else { return nil }
        let words = String((ReportPath.firstBytes(of: errors, Self.errorBytes) ?? "").prefix { $0 != "\0" })
        if let full = [ENOSPC, EDQUOT].first(where: { unsafe words.contains(": \(String(cString: strerror($0)))\n") }) {
            throw ExportError(path: scratch, problem: full)
        }
        return problem(words)
    }

    /// The first thing that went wrong. A pattern that matches nothing is no problem, nor is a path
    /// from the root.
    private func problem(_ words: String) -> String? {
        let harmless = ["Not found in archive", "Removing leading", "Exiting with failure status"]
        let lines = words.split(separator: "\n").filter { line in !harmless.contains(where: line.contains) }
        return lines.first.map(String.init) ?? (words.isEmpty ? "nothing, and ends: a file in it may be larger than 256 MiB" : nil)
    }
}
