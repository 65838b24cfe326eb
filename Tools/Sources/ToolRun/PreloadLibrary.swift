#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// `launchguard-preload.so`.
package enum PreloadLibrary {
    /// The library of $LAUNCHGUARD_PRELOAD, else the one in its usual place.
    package static func path() throws(RunError) -> String {
        guard let path = try chosen() ?? usual else {
            throw RunError(
                RunError.ownFailure,
                "launchguard-preload.so was not found; install it, name it with LAUNCHGUARD_PRELOAD, or run with --witness-only, without records")
        }
        // The loader takes a list in which these are separators.
        guard !path.contains(where: { $0 == ":" || $0.isWhitespace }) else {
            throw RunError(RunError.ownFailure, "\(path): the loader takes no path with a space or a colon; move the library")
        }
        return path
    }

    private static func chosen() throws(RunError) -> String? {
        guard let path = Output.variable("LAUNCHGUARD_PRELOAD"), !path.isEmpty else { return nil }
        guard isLibrary(path) else {
            throw RunError(RunError.ownFailure, "\(path): there is no such library, or it may not be read; correct LAUNCHGUARD_PRELOAD")
        }
        return path.absolute
    }

    private static var usual: String? {
        let libraries = ["lib", "lib/\(machine)-linux-gnu", "lib64"]
        let folders = ProgramBeside.ownFolders + (ProgramBeside.prefixes + ["/usr/local", "/usr"]).flatMap { prefix in libraries.map { "\(prefix)/\($0)/launchguard" } }
        return folders.map { $0 + "/launchguard-preload.so" }.first(where: isLibrary)
    }

    private static var machine: String {
        #if arch(x86_64)
        "x86_64"
        #else
        "aarch64"
        #endif
    }

    private static func isLibrary(_ path: String) -> Bool {
        unsafe (try? ReportPath.isFolder(path)) == false && ReportPath.withCString(path) { unsafe access($0, R_OK) } == 0
    }
}

extension String {
    /// The path from the root of the file system, so that it holds in any working directory.
    package var absolute: String {
        guard !hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return self }
        defer { unsafe free(folder) }
        return unsafe "\(ReportPath.text(cString: folder))/\(self)"
    }
}
#endif
