import LaunchGuardPlatform
import LaunchGuardReportModel

/// A program that the tool runs.
package struct ChildProcess {
    private let id: pid_t

    /// Starts `/bin/sh` with a script and its arguments, as any program.
    package init?(script: String, _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil, isApart: Bool = false) {
        self.init("/bin/sh", ["-c", script, "sh"] + arguments, input: input, output: output, errors: errors, isApart: isApart)
    }

    /// Starts a program with its arguments, in a process group of its own where `isApart`; nil:
    /// that is not possible. A stream that is left out is /dev/null.
    package init?(_ program: String, _ arguments: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil, isApart: Bool = false) {
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (stream, descriptor) in [(0, input), (1, output), (2, errors)] as [(Int32, Int32?)] {
            if let descriptor {
                unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
            } else {
                unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
            }
        }
        // A thread of Swift blocks signals, and those of the terminal have to reach the program.
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | (isApart ? POSIX_SPAWN_SETPGROUP : 0)))
        var argv = unsafe ([program] + arguments).map { unsafe ReportPath.withCString($0) { unsafe strdup($0) } }
        unsafe argv.append(nil)
        defer { unsafe argv.forEach { unsafe free($0) } }
        var id: pid_t = 0
        guard unsafe ReportPath.withCString(program, { unsafe posix_spawn(&id, $0, &actions, &attributes, argv, environ) }) == 0 else { return nil }
        self.id = id
    }

    package func stop() {
        kill(id, SIGKILL)
    }

    /// How it ended; nil: it runs. Asked until it is not nil.
    package var waitStatus: Int32? {
        var status: Int32 = 0
        return unsafe waitpid(id, &status, WNOHANG) == 0 ? nil : status
    }

    /// Waits for its end; whether it ended well.
    @discardableResult
    package func wait() -> Bool {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0 {
            if errno != EINTR { return false }
        }
        return status == 0
    }

    /// The same for a program that may never end; nil: it had not ended in time, and was killed.
    package func wait(atMost limit: Duration) -> Bool? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if let status = waitStatus { return status == 0 }
            usleep(5000)
        }
        stop()
        wait()
        return nil
    }
}

/// A pipe whose ends no other program gets.
package struct Pipe {
    package let reading: Int32
    package let writing: Int32

    package init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }
}
