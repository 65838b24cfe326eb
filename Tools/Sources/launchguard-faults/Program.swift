// The program of the Swift build: the C and C++ entries of the catalogue, those of Swift, and two
// more kinds of threads.

import CLaunchGuardFaults
import Dispatch
import Glibc

@main
struct Program {
    /// Set by the entry that throws an error out of main.
    nonisolated(unsafe) static var throwsAtTheEnd = false

    struct OutOfLuck: Error {}

    static func main() throws {
        addThreadKinds()
        Traps.add()
        Misuse.add()
        Recursion.add()
        Concurrency.add()
        let status = lgf_main(CommandLine.argc, CommandLine.unsafeArgv)
        if throwsAtTheEnd { throw OutOfLuck() }
        exit(status)
    }

    /// A function of C with its argument, on its way to another thread.
    struct Job: @unchecked Sendable {
        let body: lgf_body
        let argument: UnsafeMutableRawPointer?

        func run() { body(argument) }
    }

    private static func addThreadKinds() {
        lgf_add_thread_kind(("dispatch" as StaticString).c) { body, argument in
            guard let body else { return }
            let job = Job(body: body, argument: argument)
            DispatchQueue(label: "org.launchguard.faults").async { job.run() }
        }
        lgf_add_thread_kind(("task" as StaticString).c) { body, argument in
            guard let body else { return }
            let job = Job(body: body, argument: argument)
            Task.detached { job.run() }
        }
    }
}
