// Section F: stacks that end.

import CLaunchGuardFaults
import Dispatch
import Glibc

enum Recursion {
    @inline(never) static func recurse(_ depth: Int) -> Int {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 32) { room in
            room.initialize(repeating: depth)
            return zero == 1 ? 0 : recurse(depth + 1) + room[depth & 31]
        }
    }

    @inline(never) static func overflow() { Traps.keep(recurse(0)) }

    static func add() {
        launchguard_faults.add("swift-recursion", "recurses without end", .overflow) { Recursion.overflow() }
        launchguard_faults.add("swift-recursion-pthread", "recurses without end on a thread of POSIX", .overflow, ownThreads: true) {
            lgf_start_thread("pthread", { _ in Recursion.overflow() }, nil)
            lgf_wait()
        }
        launchguard_faults.add("swift-recursion-dispatch", "recurses without end on a queue", .overflow, ownThreads: true) {
            DispatchQueue.global().async { Recursion.overflow() }
            lgf_wait()
        }
        launchguard_faults.add("swift-recursion-task", "recurses without end in a task", .overflow, ownThreads: true) {
            Task.detached { Recursion.overflow() }
            lgf_wait()
        }
    }
}
