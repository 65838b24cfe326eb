import LaunchGuard
import LaunchGuardReportModel

/// A path of which a context of a program keeps a copy.
struct KeptPath: Encodable {
    var context: String
    var path: String
    var kind: KeptFile.Kind
    var bytes: UInt64
    var copied: Timestamp

    /// Those of these contexts.
    static func all(in directory: StateDirectory, _ contexts: [String]) throws(LaunchGuardError) -> [KeptPath] {
        var paths: [KeptPath] = []
        for context in contexts {
            for file in try Launch.keptFiles(of: context, stateDirectory: directory.path) {
                paths.append(
                    KeptPath(context: context, path: file.path, kind: file.kind, bytes: file.bytes, copied: Timestamp(nanoseconds: UInt64(file.copied.sinceEpoch.attoseconds / 1_000_000_000))))
            }
        }
        return paths
    }

    var text: String {
        let what =
            switch kind {
            case .file: "\(bytes) bytes"
            case .directory: "directory"
            case .absent: "nothing was there"
            }
        return "\(path) (\(context), \(what))"
    }

    static func write(_ paths: [KeptPath], to writer: inout TextWriter) {
        guard !paths.isEmpty else { return }
        writer.line("kept copies, which launchguard undo puts back")
        for path in paths { writer.line("  \(path.text)") }
    }
}
