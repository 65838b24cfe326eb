import LaunchGuardPlatform
package import LaunchGuardReportModel

/// The output of the tool.
package enum Output {
    package enum Stream: Int32 {
        case standard = 1
        case error = 2
    }

    /// Print text as it is. When its reader has closed the pipe, SIGPIPE ends the process, as in
    /// other tools.
    package static func write(_ text: String, to stream: Stream = .standard) {
        write(Array(text.utf8), to: stream)
    }

    /// Output that cannot be written whole, as on a full disk, ends the process.
    package static func write(_ bytes: [UInt8], to stream: Stream = .standard) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Self.write($0, stream) }
            if count < 0 {
                if errno == EINTR { continue }
                guard stream == .standard else { return }
                complain("standard output: it cannot be written: \(unsafe String(cString: strerror(errno)))")
                exit(ExitStatus.nothingFound.rawValue)
            }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, _ stream: Stream) -> Int {
        unsafe LaunchGuardPlatform.write(stream.rawValue, bytes.baseAddress, bytes.count)
    }

    /// So many bytes are worth a system call.
    package static let batchSize = 65536

    /// One line of JSON.
    package static func writeLine(json value: some Encodable) {
        write(JSONLine.text(value) + "\n")
    }

    /// Lines of JSON.
    package static func writeLines(json values: some Sequence<some Encodable>) {
        var bytes: [UInt8] = []
        for value in values {
            bytes += JSONLine.text(value).utf8
            bytes.append(UInt8(ascii: "\n"))
            guard bytes.count >= batchSize else { continue }
            write(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
        write(bytes)
    }

    /// A message about the command itself.
    package static func complain(_ message: String) {
        write("launchguard: \(TextWriter.escaped(message))\n", to: .error)
    }

    /// A writer with colours if standard output is a terminal that supports them. Lines may be cut
    /// at the last column of a terminal.
    package static func makeWriter(isCut: Bool = false) -> TextWriter {
        let wantsNone = variable("NO_COLOR")?.isEmpty == false || variable("TERM") == "dumb"
        return TextWriter(isColored: !wantsNone && isTerminal, columns: isCut ? columns : nil)
    }

    private static var isTerminal: Bool { isatty(Stream.standard.rawValue) == 1 }

    /// The columns of the terminal, or as many as COLUMNS says; nil: it is no terminal, or does not
    /// say.
    private static var columns: Int? {
        guard isTerminal else { return nil }
        if let columns = variable("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        #if os(Linux)
        var size = winsize()
        if unsafe ioctl(Stream.standard.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        #endif
        return nil
    }

    /// An environment variable.
    package static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe ReportPath.text(cString: $0) }
    }
}
