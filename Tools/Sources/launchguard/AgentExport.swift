import LaunchGuardPlatform
import LaunchGuardReportModel

/// A run in the format of a server. The bytes come from `launchguard-agent`, which sends the same;
/// the names of functions are added here.
struct AgentExport {
    let bytes: [UInt8]

    init(_ run: RunReport, _ command: ExportCommand, _ surroundings: ShownRun.Surroundings) throws {
        guard let identity = run.identity, let end = run.verdict?.end else {
            throw Export.Impossible(run.path, "the damage leaves open which run this is; --format json or text has what is there", isDamaged: true)
        }
        guard end != .running else {
            throw Export.Impossible(run.path, "process \(identity.processID) lives, and a report is of an end; --format json or text shows the run")
        }
        guard let program = command.agent.program else { throw Export.Impossible(run.path, command.agent.whyMissing) }
        let plain = try Self.output(of: program, ["--export", command.format.rawValue, "--run", run.path])
        let names = ExportedNames(ShownRun(run, command.symbols, surroundings).report)
        bytes = names.map { command.format == .sentry ? $0.named(envelope: plain) : $0.named(request: plain) } ?? plain
    }

    /// Output of the program. Its complaints go where the tool's complaints go.
    private static func output(of program: String, _ arguments: [String]) throws -> [UInt8] {
        guard let pipe = Pipe() else { throw ReportError(code: .system, errno: errno, path: program) }
        defer { close(pipe.reading) }
        let process = ChildProcess(program, arguments, output: pipe.writing, errors: Output.Stream.error.rawValue)
        close(pipe.writing)
        guard let process else { throw Export.Impossible(program, "it cannot be started") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let size = unsafe read(pipe.reading, &buffer, buffer.count)
            if size < 0, errno == EINTR { continue }
            if size <= 0 { break }
            bytes += buffer.prefix(size)
        }
        guard process.wait(), !bytes.isEmpty else { throw Export.Impossible(program, "it wrote no report; the agent of version \(Reader.libraryVersion) does") }
        return bytes
    }
}
