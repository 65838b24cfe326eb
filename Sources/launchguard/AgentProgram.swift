import LaunchGuardPlatform
import LaunchGuardReports

/// `launchguard-agent`, run once.
struct AgentProgram {
    private let process: pid_t
    private var status: Int32?
    private var isStopped = false

    /// The program that was chosen, else the one in its usual place; nil: there is none.
    static func path(chosen: String?) -> String? {
        if let path = chosen ?? Output.variable("LAUNCHGUARD_AGENT") { return isProgram(path) ? path : nil }
        let folder = Path.folder(ofLink: "/proc/self/exe")
        let beside = folder.map { [$0, $0 + "/../libexec/launchguard"] } ?? []
        let folders = beside + ["/usr/local/libexec/launchguard", "/usr/libexec/launchguard"]
        return folders.map { $0 + "/launchguard-agent" }.first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        unsafe (try? Path.isFolder(path)) == false && Path.withCString(path) { unsafe access($0, X_OK) } == 0
    }

    /// Starts it; nil: that is not possible.
    init?(_ program: String, _ directory: StateDirectory) {
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (stream, mode) in [(0, O_RDONLY), (1, O_WRONLY)] as [(Int32, Int32)] {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", mode, 0)
        }
        // A thread of Swift blocks signals, and those of the terminal have to reach the agent.
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments = [program, "--state", directory.path, "--once", "--via", "tool"]
        var argv = unsafe arguments.map { unsafe Path.withCString($0) { unsafe strdup($0) } }
        unsafe argv.append(nil)
        defer { unsafe argv.forEach { unsafe free($0) } }
        var process: pid_t = 0
        guard unsafe Path.withCString(program, { unsafe posix_spawn(&process, $0, &actions, &attributes, argv, environ) }) == 0 else { return nil }
        self.process = process
    }

    /// Asked again and again until it is false.
    var isRunning: Bool {
        mutating get {
            var status: Int32 = 0
            if self.status == nil, unsafe waitpid(process, &status, WNOHANG) != 0 { self.status = status }
            return self.status == nil
        }
    }

    /// Ends it at once: all that it needs is on the disk, and another one goes on where it was.
    mutating func stop() {
        isStopped = true
        kill(process, SIGKILL)
    }

    /// Whether it ended by itself, and otherwise than when nothing more could be done.
    var hasFailed: Bool {
        !isStopped && status != 0 && status != 6 << 8
    }
}
