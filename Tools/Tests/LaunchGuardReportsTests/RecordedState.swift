import CLaunchGuard
import Foundation
import LaunchGuardReportModel
import Testing
import TestSupport

/// A state directory that a child process left behind: a run with breadcrumbs and a launch, which
/// died of a null pointer. The next start has counted the crash.
struct RecordedState {
    let folder: TemporaryFolder
    /// The file of the run that crashed.
    let runPath: String

    var directory: StateDirectory { StateDirectory(path: folder.path) }

    static func make() async throws -> RecordedState {
        let folder = try TemporaryFolder()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGSEGV)) { [path = path as String] in
            let child = Child(path)
            child.log(LG_LEVEL_INFO, "first words")
            child.launch()
            child.log(LG_LEVEL_ERROR, "last \u{1B}[31mwords")
            Child.readMemory(at: 8)
        }
        let runPath = try #require(try StateDirectory(path: path).runPaths().last)
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = Child(path)
        }
        return RecordedState(folder: folder, runPath: runPath)
    }
}

/// The action of the child process. It ends with a status of its own where something else goes
/// wrong than it should.
@safe struct Child {
    private let session: OpaquePointer?

    /// Starts a session in a directory, with the default threshold for hangs where none is given.
    init(_ path: String, hangMilliseconds: UInt32 = 0) {
        var session: OpaquePointer?
        var options = unsafe lg_options()
        unsafe options.size = UInt32(MemoryLayout<lg_options>.size)
        let status = unsafe path.withCString { directory in
            unsafe "org.example.reports".withCString { name in
                unsafe options.app_id = name
                unsafe options.hang_running_ms = hangMilliseconds
                unsafe options.state_directory = directory
                return unsafe lg_start(&options, &session)
            }
        }
        guard status == LG_OK else { exit(99) }
        unsafe self.session = session
    }

    func log(_ level: lg_level, _ text: String) {
        guard unsafe lg_log_write(session, level, text, text.utf8.count) == LG_OK else { exit(98) }
    }

    /// A breadcrumb with one field.
    func log(_ key: String, _ value: String) {
        unsafe key.withCString { key in
            unsafe value.withCString { value in
                var field = unsafe lg_field(key: key, value: value)
                guard unsafe lg_log_fields(session, LG_LEVEL_INFO, "test", nil, 0, &field, 1) == LG_OK else { exit(93) }
            }
        }
    }

    func annotate(_ key: String, _ value: String) {
        guard unsafe lg_annotate(session, key, value) == LG_OK else { exit(95) }
    }

    func redact(_ key: String) {
        guard unsafe lg_redact(session, key) == LG_OK else { exit(94) }
    }

    func launch() {
        var launch: OpaquePointer?
        guard unsafe lg_launch_prepare(session, "main", nil, &launch) == LG_OK else { exit(97) }
        guard unsafe lg_launch_begin(launch) == LG_OK else { exit(96) }
    }

    /// Starts guards and finds a fault, with two fields; the policy `LG_GUARD_FATAL` makes this the
    /// end.
    @inline(never) func findFault(_ policy: lg_guard_policy) {
        var options = unsafe lg_guard_options()
        unsafe options.size = UInt32(MemoryLayout<lg_guard_options>.size)
        unsafe options.policy = policy
        unsafe options.quiet = 1
        guard unsafe lg_guard_start(session, &options) == LG_OK else { exit(91) }
        unsafe "index".withCString { index in
            unsafe "token".withCString { token in
                unsafe "9".withCString { value in
                    let fields = unsafe [lg_field(key: index, value: value), lg_field(key: token, value: value)]
                    guard unsafe lg_guard_claim(LG_GUARD_CONTAINER, nil, "index 9 of 3", fields, 2) == 1 else { exit(90) }
                }
            }
        }
    }

    /// Beats once, and is killed when the stacks of its hang are in its file.
    func hang(_ path: String) {
        guard unsafe lg_heartbeat(session) == LG_OK else { exit(92) }
        Thread.detachNewThread {
            do { try blockUntil("the stacks of the hang are there") { Self.isHanging(path) } } catch { exit(93) }
            kill(getpid(), SIGKILL)
        }
        Self.standStill()
    }

    @inline(never) private static func standStill() {
        while true {}
    }

    private static func isHanging(_ path: String) -> Bool {
        let run = try? StateDirectory(path: path).runPaths().last.map { try Reader(path: $0).run() }
        return run?.snapshots?.first?.isComplete == true
    }

    /// Dies of SIGSEGV where there is no memory.
    @inline(never) static func readMemory(at address: UInt) {
        guard let pointer = unsafe UnsafePointer<Int>(bitPattern: address) else { return }
        print(unsafe pointer.pointee)
    }

    /// Dies of a Swift trap.
    @inline(never) static func overflow(by number: Int) {
        print(number + Int(getpid()))
    }
}
