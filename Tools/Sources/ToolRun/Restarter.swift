#if os(Linux)
import CProcess
import LaunchGuard
import LaunchGuardPlatform
import LaunchGuardReportModel
import ToolBase

/// Starts a program again when it fails, as the launch machine in the program decides.
struct Restarter {
    let options: RestartOptions
    let program: ProgramStart
    let name: String
    let environment: ProgramEnvironment
    let witness: RunWitness
    let keepsWords: Bool
    let messages: RunMessages

    /// Until the program ends well, is asked to end, or is given up. Ends this process as the
    /// program ended last. A halted program ends with 0, and the ledger says that it is halted: a
    /// status of its own could be one of the program's.
    func run() throws(RunError) -> Never {
        var isFirst = true
        var policy = RestartPolicy(firstDelay: options.restartDelay, steady: Self.steady)
        while true {
            let begun = monotonic()
            let (status, wasAskedToEnd, run) = try live(isFirst)
            let launch = run.flatMap { try? Launch.info(of: LaunchWatch.context, stateDirectory: $0.directory) }
            if !isFirst, status == 0, let run, let launch, launch.isHalted { giveUp(run) }
            if wasAskedToEnd || Self.isGood(status) { ProgramParent.end(as: status) }
            let streak = run.map { Self.isCounted($0.path) } == true ? launch?.streak : nil
            guard case .start(let pause) = policy.next(seconds: monotonic() - begun, streak: streak) else {
                say("\(Self.end(status)); it is given up: it failed \(RestartPolicy.mostUncounted) times in a row, and no ledger could count its launches")
                exit(Int32(options.giveUpStatus))
            }
            // A fleet does not start in step.
            let delay = pause * Double.random(in: 0.9...1.1)
            say("\(Self.end(status)); it is started again in \(Self.text(delay)) s")
            if let signal = rest(delay) {
                lg_shim_die(signal)
                exit(128 + signal)
            }
            isFirst = false
        }
    }

    /// One life of the program: its wait status, whether it was asked to end, and its run.
    private func live(_ isFirst: Bool) throws(RunError) -> (Int32, Bool, (directory: String, path: String)?) {
        var ours = environment
        ours.set("LAUNCHGUARD_LAUNCH", options.plan(isFirst: isFirst, isQuiet: messages.isQuiet, preload: Output.variable("LD_PRELOAD")))
        let words = keepsWords ? KeptWords() : nil
        let started = try program.program(ours, words)
        var parent = ProgramParent(started, witness, words, hasRecords: true)
        let watch = LaunchWatch(started.process, options, witness, say: say) { program.command($0, ProgramEnvironment()) }
        let status = parent.waitForEnd(watch)
        watch.close()
        parent.release()
        return (status, watch.wasAskedToEnd(status), watch.run)
    }

    private func say(_ text: String) { messages.say("\(name): \(text)") }

    /// The program did not run in the last run, whose file goes: the newest one is that of the last
    /// crash.
    private func giveUp(_ run: (directory: String, path: String)) -> Never {
        _ = unsafe ReportPath.withCString(run.path) { unsafe unlink($0) }
        say("it is given up: neither repairs nor safe mode helped; after a repair: launchguard reset \(run.directory)")
        exit(Int32(options.giveUpStatus))
    }

    /// A good end for a supervisor: the program ended by itself with success, or by a signal that
    /// asks for the end.
    private static func isGood(_ status: Int32) -> Bool {
        let signal = status & 0x7F
        return signal == 0 ? status == 0 : [SIGHUP, SIGINT, SIGTERM, SIGPIPE].contains(signal)
    }

    private static func end(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "it ended with status \(status >> 8 & 0xFF)" : "it died of \(RunSignal(signal).name)"
    }

    private static func text(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static let steady = Double(Launch.Configuration().steadyAfter?.components.seconds ?? 0)

    /// Whether the launch machine had a ledger in a run.
    private static func isCounted(_ path: String) -> Bool {
        guard let run = try? Reader(path: path).summary() else { return false }
        return run.identity?.isSecondary == false && run.contexts?.contains { $0.name == LaunchWatch.context } == true
    }

    /// A signal that asks to end meanwhile; nil: the time is over.
    private func rest(_ seconds: Double) -> Int32? {
        let until = monotonic() + seconds
        while case let left = until - monotonic(), left > 0 {
            var signal = unsafe siginfo_t()
            guard unsafe lg_shim_next_signal_within(Int(left * 1000) + 1, &signal) != 0 else { continue }
            let number = unsafe signal.si_signo, isOfSystem = unsafe signal.si_code > 0
            if LaunchWatch.asksToEnd(number, isOfSystem: isOfSystem) { return number }
            if number == SIGCHLD { while waitpid(-1, nil, WNOHANG) > 0 {} }
        }
        return nil
    }
}
#endif
