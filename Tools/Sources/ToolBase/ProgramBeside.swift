import LaunchGuardPlatform
import LaunchGuardReportModel

/// A program that is installed with the tool.
package enum ProgramBeside {
    /// Its path: beside the tool, or in the folder for such programs; nil: it is in neither.
    package static func path(_ name: String) -> String? {
        let folders = ownFolders + (prefixes + ["/usr/local", "/usr"]).map { $0 + "/libexec/launchguard" }
        return folders.map { "\($0)/\(name)" }.first { isProgram($0) && !isOwn($0) }
    }

    /// Starts the program in the place of this one, with the same arguments. Returns where that is
    /// not possible, and says why where the program is there.
    package static func become(_ name: String) {
        guard let path = path(name) else { return }
        // A thread of Swift blocks signals, and those of the terminal have to reach the program.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        _ = unsafe ReportPath.withCString(path) { unsafe execv($0, CommandLine.unsafeArgv) }
        Output.complain("\(path): it cannot be started: \(unsafe String(cString: strerror(errno)))")
    }

    package static func isProgram(_ path: String) -> Bool {
        unsafe (try? ReportPath.isFolder(path)) == false && ReportPath.withCString(path) { unsafe access($0, X_OK) } == 0
    }

    /// The folder of this program; empty: it is not known.
    package static var ownFolders: [String] { [ReportPath.folder(ofLink: "/proc/self/exe")].compactMap(\.self) }

    /// The prefix of the installation, where this program is in its `bin` or `libexec/launchguard`.
    package static var prefixes: [String] { ownFolders.flatMap { [$0 + "/..", $0 + "/../.."] } }

    /// Whether a path leads to this program, which may have the name of the other one.
    private static func isOwn(_ path: String) -> Bool {
        var own = stat(), other = stat()
        guard unsafe stat("/proc/self/exe", &own) == 0, unsafe ReportPath.withCString(path, { unsafe stat($0, &other) }) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }
}
