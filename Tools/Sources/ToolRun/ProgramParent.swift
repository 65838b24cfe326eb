#if os(Linux)
import CProcess
import LaunchGuardPlatform

/// The parent of the program. To the outside it acts as the program: it passes signals on, stops
/// and goes on with the program, and ends as the program ends.
///
/// The program leads a group of its own where this process leads one, and has the terminal as long
/// as this process would have it. What the group of this process gets, the group of the program
/// gets. Elsewhere both are in one group, and a signal to that group has reached the program
/// already.
struct ProgramParent {
    let process: pid_t
    private let leads: Bool
    let witness: RunWitness
    private let words: KeptWords?
    /// The channel to the listener of the group; -1: there is none.
    private let listener: Int32
    /// Nil: the kernel does not report the ends of descendants, or there are no files to store them
    /// in.
    private let descendants: DescendantWatch?
    /// Signals that the group got and this process has still to take, signal 1 in bit 0.
    private var heard: UInt64 = 0

    init(_ program: StartedProgram, _ witness: RunWitness, _ words: KeptWords?, hasRecords: Bool) {
        process = program.process
        leads = program.leads
        self.witness = witness
        self.words = words
        descendants = hasRecords ? DescendantWatch(process, witness) : nil
        listener = lg_shim_start_listener(leads ? process : 0, descendants?.notices ?? -1)
        descendants?.look()
    }

    /// Nobody listens to the group any more.
    func release() {
        if listener >= 0 { close(listener) }
    }

    /// Until the program has ended. The result is its wait status.
    mutating func waitForEnd(_ watch: LaunchWatch? = nil) -> Int32 {
        while true {
            var signal = unsafe siginfo_t()
            let pause = watch?.pause
            if pause != nil { watch?.look() }
            guard unsafe next(&signal, within: pause) else { continue }
            let number = unsafe signal.si_signo, isOfSystem = unsafe signal.si_code > 0
            if number == SIGCHLD, isOfSystem {
                var stop: Int32 = 0
                if let status = reap(watch, &stop) {
                    if leads { _ = lg_shim_move_terminal(process, getpgrp()) }
                    descendants?.finish()
                    return status
                }
                stopAsProgram(by: stop == 0 ? lg_shim_stop_signal(process) : stop)
                continue
            }
            watch?.heard(number, isOfSystem: isOfSystem)
            // A stop of the terminal is one of its group. The listener may have been asked too
            // late: the group may go on already.
            let wasForGroup = wasForGroup(number) || isOfSystem && Self.stops.contains(number)
            if leads, number == SIGCONT { _ = lg_shim_move_terminal(getpgrp(), process) }
            if !wasForGroup {
                unsafe lg_shim_pass_on(process, &signal)
            } else if leads {
                kill(-process, number)
            }
        }
    }

    /// Takes the next signal; false: none came in some milliseconds.
    private func next(_ signal: inout siginfo_t, within milliseconds: Int?) -> Bool {
        if let descendants {
            descendants.wait(milliseconds)
            return unsafe lg_shim_next_signal_within(0, &signal) != 0
        }
        guard let milliseconds else {
            unsafe signal = lg_shim_next_signal()
            return true
        }
        return unsafe lg_shim_next_signal_within(milliseconds, &signal) != 0
    }

    private static let stops = [SIGTSTP, SIGTTIN, SIGTTOU]

    /// Whether the whole group got a signal that this process has taken.
    private mutating func wasForGroup(_ number: Int32) -> Bool {
        guard listener >= 0 else { return false }
        heard = lg_shim_join(heard, lg_shim_heard_by_listener(listener))
        defer { heard = lg_shim_taken(heard, number) }
        return lg_shim_was_for_group(heard, number) != 0
    }

    /// Waits for each child that has ended: the program, and orphans among its descendants. The
    /// result is the wait status of the program; `stop` the signal that a traced program stopped
    /// by.
    private func reap(_ watch: LaunchWatch?, _ stop: inout Int32) -> Int32? {
        var result: Int32?
        while case let child = unsafe lg_shim_ended_child(process, &stop), child > 0 {
            let ended = ProcessIdentity(child)
            var status: Int32 = 0
            guard unsafe waitpid(child, &status, 0) == child else { break }
            descendants?.waited(for: child)
            if child == process, let words { witness.store(words.settle(), of: ended) }
            witness.store(status, of: ended)
            watch?.ended(child, status)
            if child == process { result = status }
        }
        return result
    }

    /// A shell waits for this process and has to see it stop. Where no shell does, nobody would
    /// make it go on.
    private func stopAsProgram(by signal: Int32) {
        guard signal != 0 else { return }
        if leads, Self.stops.contains(signal) {
            // The shell gave the terminal after the program had started.
            if signal != SIGTSTP, lg_shim_move_terminal(getpgrp(), process) != 0 { return resume() }
            // The kernel stops no group by the terminal that nobody would make go on.
            if signal == SIGTSTP, lg_shim_is_orphaned() != 0 { return resume() }
        }
        let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        // A SIGCONT that waits undoes the stop, and is passed on next.
        guard terminal >= 0 else { return }
        close(terminal)
        guard lg_shim_waits(SIGCONT) == 0 else { return }
        if leads { _ = lg_shim_move_terminal(process, getpgrp()) }
        lg_shim_take_default(lg_shim_as_stop(signal))
    }

    private func resume() { kill(-process, SIGCONT) }

    /// Ends this process as the program ended.
    static func end(as waitStatus: Int32) -> Never {
        let signal = waitStatus & 0x7F
        guard signal != 0 else { exit(waitStatus >> 8 & 0xFF) }
        lg_shim_die(signal)
        exit(128 + signal)
    }
}
#endif
