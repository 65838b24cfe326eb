#if os(Linux)
import LaunchGuard
import LaunchGuardReportModel
import ToolBase

/// The folder in which each program of `launchguard run` has its state directory.
package enum RecordsFolder {
    /// The folder of `--directory`, else the usual one, which may be a state directory itself; nil:
    /// none is known.
    package static func path(_ directory: String? = nil) -> String? {
        if let directory = directory ?? Output.variable("LAUNCHGUARD_DIRECTORY"), !directory.isEmpty { return directory.absolute }
        let probe = "launchguard-run"
        let usual = try? Session.stateDirectory(appID: probe)
        return usual.map { $0.hasSuffix("/" + probe) ? String($0.dropLast(probe.count + 1)) : $0 }
    }
}
#endif
