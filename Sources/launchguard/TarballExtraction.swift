import LaunchGuardPlatform
import LaunchGuardReports

/// One run of `tar` on a tarball that may be hostile. tar itself strips a leading "/", refuses ".."
/// and makes links last; the shell bounds each file and the processor time, and the tool all files.
struct TarballExtraction {
    private let tarball: String
    private let folder: String

    init(_ tarball: String, into folder: String) {
        self.tarball = tarball
        self.folder = folder
    }

    /// 256 MiB a file, 60 s of processor time. TAR_OPTIONS could take a protection away.
    private static let script = """
        tarball=$1 folder=$2
        shift 2
        unset TAR_OPTIONS
        umask 077
        ulimit -c 0; ulimit -t 60; ulimit -f 524288
        LC_ALL=C exec tar --extract --verbose --force-local --no-same-owner --no-same-permissions \
            --wildcards --wildcards-match-slash --anchored --file="$tarball" --directory="$folder" -- "$@"
        """

    /// Unpacks what matches the patterns. What tar says of a tarball that it cannot read whole;
    /// nil: nothing.
    func run(_ patterns: [String], mostBytes: Int, mostFiles: Int) throws -> String? {
        guard let names = Pipe(), let errors = Pipe() else { throw ReportError(code: .system, errno: errno, path: tarball) }
        defer { for end in [names.reading, errors.reading] { close(end) } }
        let tar = ChildProcess(Self.script, [tarball, folder] + patterns, output: names.writing, errors: errors.writing)
        for end in [names.writing, errors.writing] { close(end) }
        guard let tar else { throw ReportError(code: .system, errno: errno, path: tarball) }
        var files = 0
        var words: [UInt8] = []
        var isTooMuch = false
        let clock = ContinuousClock()
        var looked = clock.now
        var streams = [names, errors].map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while streams.contains(where: { $0.fd >= 0 }) {
            let count = unsafe poll(&streams, nfds_t(streams.count), 50)
            if !isTooMuch, clock.now - looked > .milliseconds(50) {
                isTooMuch = files > mostFiles || Path.size(ofFolder: folder) > mostBytes
                if isTooMuch { tar.stop() }
                looked = clock.now
            }
            guard count > 0 else { continue }
            for index in streams.indices where streams[index].revents != 0 {
                let size = unsafe read(streams[index].fd, &buffer, buffer.count)
                if size < 0, errno == EINTR { continue }
                if size <= 0 { streams[index].fd = -1 }
                let text = buffer.prefix(max(0, size))
                if index == 0 { files += text.count { $0 == UInt8(ascii: "\n") } } else if words.count < 65536 { words += text }
            }
        }
        let isWhole = tar.wait()
        guard !isTooMuch, files <= mostFiles, Path.size(ofFolder: folder) <= mostBytes else {
            Output.complain("\(tarball): it holds more than \(mostFiles) files or \(mostBytes >> 20) MiB of LaunchGuard; unpack it, and name the folder")
            throw ExitStatus.nothingFound.code
        }
        return isWhole ? nil : problem(String(decoding: words, as: UTF8.self))
    }

    /// The first thing that went wrong. A pattern that matches nothing is no problem, nor is a path
    /// from the root.
    private func problem(_ words: String) -> String? {
        let harmless = ["Not found in archive", "Removing leading", "Exiting with failure status"]
        let lines = words.split(separator: "\n").filter { line in !harmless.contains(where: line.contains) }
        return lines.first.map(String.init) ?? (words.isEmpty ? "nothing, and ends: a file in it may be larger than 256 MiB" : nil)
    }
}
