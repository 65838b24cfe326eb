// Section F: queues, actors, tasks.

import CLaunchGuard
import CLaunchGuardFaults
import Dispatch

enum Concurrency {
    @inline(never) static func index(_ numbers: [Int], at place: Int) async -> Int {
        await Task.yield()
        return numbers[place]
    }
    @inline(never) static func middle(_ numbers: [Int]) async -> Int {
        let first = await index(numbers, at: zero)
        return first + (await index(numbers, at: zero + 10))
    }

    static func onQueue(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "org.launchguard.faults").async(execute: body)
        lgf_wait()
    }

    static func add() {
        launchguard_faults.add(
            "swift-async", "reads beyond the end of an array in an async function",
            .debugTrap(LG_CRASH_TRAP_SWIFT, message: "Index out of range"), ownThreads: true
        ) {
            Task.detached { Traps.keep(await Concurrency.middle([1, 2, 3])) }
            lgf_wait()
        }
        launchguard_faults.add(
            "swift-main-actor", "assumes the main actor on a queue", .silentTrap, ownThreads: true
        ) { Concurrency.onQueue { MainActor.assumeIsolated {} } }
        launchguard_faults.add(
            "swift-precondition-isolated", "requires the main actor on a queue", .silentTrap, ownThreads: true
        ) { Concurrency.onQueue { MainActor.preconditionIsolated() } }
        launchguard_faults.add(
            "swift-dispatch-precondition", "requires the main queue on another queue", .silentTrap, ownThreads: true
        ) { Concurrency.onQueue { dispatchPrecondition(condition: .onQueue(.main)) } }
        launchguard_faults.add("swift-sync-own-queue", "waits on a queue for that queue", .silentTrap, ownThreads: true) {
            let queue = DispatchQueue(label: "org.launchguard.faults")
            queue.async { queue.sync {} }
            lgf_wait()
        }
        launchguard_faults.add(
            "swift-continuation-leaked", "never resumes a task, and ends well", .clean, ownThreads: true
        ) {
            Task.detached { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
            lgf_sleep_ms(50)
        }
    }
}
