internal import LaunchGuardPlatform

/// Runs a program and collects its output.
enum Subprocess {
    /// How the program ended.
    enum Ending: Equatable {
        /// As of `waitpid`.
        case status(Int32)
        case timeout
        case tooMuch
        case notStarted
    }

    /// The standard output of a program; nil when the program cannot be started, prints more than
    /// `limit` bytes, fails, or takes longer than `seconds`. Its standard input is empty, and its
    /// standard error is discarded.
    static func output(of program: String, _ arguments: [String], limit: Int = 64 << 20, seconds: Int = 60) -> [UInt8]? {
        let (output, ending) = run(program, arguments, limit: limit, seconds: seconds)
        return ending == .status(0) ? output : nil
    }

    /// The output of a program, as far as it came, and how the program ended. One that prints more
    /// than `limit` bytes or takes longer than `seconds` is killed.
    static func run(
        _ program: String, _ arguments: [String], limit: Int, seconds: Int, withErrors: Bool = false
    ) -> (output: [UInt8], ending: Ending) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return ([], .notStarted) }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = spawn(program, arguments, output: ends[1], withErrors: withErrors)
        close(ends[1])
        guard let child else { return ([], .notStarted) }
        let (output, early) = collect(from: ends[0], limit: limit, seconds: seconds)
        if early != nil { kill(child, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        return (output, early ?? .status(status))
    }

    private static func spawn(_ program: String, _ arguments: [String], output: Int32, withErrors: Bool) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        if withErrors {
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        var argv = unsafe ([program] + arguments).map { unsafe strdup($0) }
        unsafe argv.append(nil)
        defer { unsafe argv.forEach { unsafe free($0) } }
        var variables = unsafe environment()
        defer { unsafe variables.forEach { unsafe free($0) } }
        var child: pid_t = 0
        return unsafe posix_spawn(&child, program, &actions, nil, &argv, &variables) == 0 ? child : nil
    }

    /// This process's own, with messages in English, and without the backtracer of Swift, which
    /// would take a second to say that a symbolizer crashed.
    private static func environment() -> [UnsafeMutablePointer<CChar>?] {
        let own = ["LC_ALL=C", "SWIFT_BACKTRACE=enable=no"]
        var variables = unsafe own.map { unsafe strdup($0) }
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            let text = unsafe String(cString: variable)
            if !own.contains(where: { text.hasPrefix($0.prefix { $0 != "=" } + "=") }) { unsafe variables.append(strdup(variable)) }
            unsafe next += 1
        }
        return unsafe variables + [nil]
    }

    /// Everything up to the end of the output, or why that was not waited for.
    private static func collect(from descriptor: Int32, limit: Int, seconds: Int) -> ([UInt8], Ending?) {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while output.count <= limit {
            let left = (deadline - clock.now).components
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&event, 1, Int32(max(0, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000)))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return (output, .timeout) }
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return (output, .notStarted) }
            if count == 0 { return (output, nil) }
            output += buffer[..<count]
        }
        return (output, .tooMuch)
    }
}
