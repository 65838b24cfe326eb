#if os(Linux)
import CProcess
import LaunchGuard
import LaunchGuardPlatform

/// One start of a program that is started again when it fails: the signals sent to it, and its
/// launch check.
final class LaunchWatch {
    /// The name of the launch that the preload library begins.
    static let context = "main"

    private let process: pid_t
    private let identity: ProcessIdentity
    private let check: LaunchCheck?
    private let window: Double
    private let witness: RunWitness
    private let say: (String) -> Void
    private let startCommand: (String) -> pid_t?

    private let wallStart: timespec
    private var start = monotonic()
    private var command: pid_t?
    private var hasPassed = false
    private var state: State

    private var wasAsked = false
    private var wasSentQuit = false

    private enum State {
        case waiting
        case ending(since: Double)
        case over
    }

    init(
        _ process: pid_t, _ options: RestartOptions, _ witness: RunWitness, say: @escaping (String) -> Void, startCommand: @escaping (String) -> pid_t?
    ) {
        self.process = process
        identity = ProcessIdentity(process)
        check = options.launchCheck
        window = options.window
        self.witness = witness
        self.say = say
        self.startCommand = startCommand
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        wallStart = now
        state = check == nil ? .over : .waiting
    }

    /// The program's run; nil: there is none yet. It changes when the process executes another
    /// program.
    var run: (directory: String, path: String)? { witness.run(of: identity) }

    /// Milliseconds until the next look; nil: there is nothing to look for.
    var pause: Int? {
        if case .over = state { nil } else { 200 }
    }

    /// Tries the check; a program that does not pass in time is ended so that its record has
    /// stacks.
    func look() {
        switch state {
        case .over: break
        case .ending(let since) where monotonic() - since > 5: end(by: SIGKILL)
        case .ending: break
        case .waiting: lookAtLaunch()
        }
    }

    private func lookAtLaunch() {
        guard let check else { return }
        if let run, let info = try? Launch.info(of: Self.context, stateDirectory: run.directory), info.status == .repairing || info.status == .awaitingRepair {
            start = monotonic()  // repairs come before the program
            return
        }
        hasPassed = hasPassed || check.isPassed(since: wallStart)
        if hasPassed {
            finish()
        } else if monotonic() - start > window {
            say("the launch check did not pass within \(window) s; the program is ended")
            state = .ending(since: monotonic())
            kill(process, SIGABRT)
        } else if case .command(let text) = check, command == nil {
            command = startCommand(text)
        }
    }

    /// A child has ended: perhaps the command of the check.
    func ended(_ child: pid_t, _ waitStatus: Int32) {
        guard child == command else { return }
        command = nil
        if waitStatus == 0 { hasPassed = true }
    }

    /// Whether a signal to this process asked the program, which ended so, to end.
    func wasAskedToEnd(_ waitStatus: Int32) -> Bool { wasAsked || wasSentQuit && waitStatus & 0x7F == SIGQUIT }

    func heard(_ signal: Int32, isOfSystem: Bool) {
        if Self.asksToEnd(signal, isOfSystem: isOfSystem) { wasAsked = true }
        if signal == SIGQUIT { wasSentQuit = true }
    }

    /// A hangup or a quit that a process sends is often another wish: to read the configuration
    /// again, to list the threads. Those of a terminal come from the system.
    static func asksToEnd(_ signal: Int32, isOfSystem: Bool) -> Bool {
        [SIGTERM, SIGINT].contains(signal) || isOfSystem && [SIGHUP, SIGQUIT].contains(signal)
    }

    /// The start is over: end a command that still runs, whose answer no longer counts.
    func close() {
        if let command { kill(command, SIGKILL) }
    }

    /// The check may pass before the program has begun its launch: something else listens there.
    private func finish() {
        if let run, (try? Launch.witnessFinished(Self.context, of: process, stateDirectory: run.directory)) != nil {
            state = .over
        } else if monotonic() - start > window {
            say("the launch check passed, and could not be stored: the program has no run with a launch under way")
            state = .over
        }
    }

    private func end(by signal: Int32) {
        kill(process, signal)
        state = .over
    }
}

/// Seconds of a clock that never jumps.
func monotonic() -> Double {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
#endif
