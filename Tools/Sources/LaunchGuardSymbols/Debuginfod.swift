internal import FoundationEssentials
internal import Synchronization

/// Separate debug files from the servers that `DEBUGINFOD_URLS` names, by the program
/// `debuginfod-find`. Nobody is asked where that variable is not set.
final class Debuginfod: Sendable {
    private let program: String?
    private let seconds: Int
    private let isDown = Mutex(false)

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// - Parameter program: nil: none is installed.
    init(program: String?, seconds: Int = 60) {
        self.program = program
        self.seconds = seconds
    }

    /// Nil where no server is named.
    static func find(environment: [String: String] = ProcessInfo.processInfo.environment) -> Debuginfod? {
        guard environment["DEBUGINFOD_URLS"]?.contains(where: { $0 != " " }) == true else { return nil }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return Debuginfod(program: folders.map { $0 + "/debuginfod-find" }.first(where: FileManager.default.isExecutableFile(atPath:)))
    }

    /// The path of the debug file; nil: the servers do not have it. After a failure no server is
    /// asked again.
    func file(buildID: String) throws(Failure) -> String? {
        guard !isDown.withLock(\.self) else { return nil }
        do throws(Failure) {
            return try ask(buildID)
        } catch {
            isDown.withLock { $0 = true }
            throw error
        }
    }

    private func ask(_ buildID: String) throws(Failure) -> String? {
        guard let program else {
            throw Failure(description: "DEBUGINFOD_URLS is set, but there is no debuginfod-find in PATH; install it (package debuginfod)")
        }
        let (output, ending) = Subprocess.run(program, ["debuginfo", buildID], limit: 1 << 16, seconds: seconds, withErrors: true)
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        switch ending {
        case .status(0): return lines.last { $0.hasPrefix("/") }.map(String.init)
        case .timeout: throw Failure(description: "debuginfod-find had no answer within \(seconds) seconds; no server is asked any more")
        default:
            let reason = lines.last.map(String.init) ?? "it does not work"
            // Only its words distinguish the reason.
            if reason.hasSuffix("No such file or directory") { return nil }
            throw Failure(description: "debuginfod-find: \(reason); no server is asked any more")
        }
    }
}
