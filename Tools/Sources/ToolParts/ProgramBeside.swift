import LaunchGuardPlatform
import LaunchGuardReportModel

/// A program that is installed with the tool.
package enum ProgramBeside {
    /// Its path: beside the tool, or in the folder for such programs; nil: it is in neither.
    package static func path(_ name: String) -> String? {
        let folder = ReportPath.folder(ofLink: "/proc/self/exe")
        let beside = folder.map { [$0, $0 + "/../libexec/launchguard"] } ?? []
        let folders = beside + ["/usr/local/libexec/launchguard", "/usr/libexec/launchguard"]
        return folders.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    package static func isProgram(_ path: String) -> Bool {
        unsafe (try? ReportPath.isFolder(path)) == false && ReportPath.withCString(path) { unsafe access($0, X_OK) } == 0
    }
}
