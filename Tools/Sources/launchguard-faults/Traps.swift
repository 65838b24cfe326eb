// Section F: traps of the compiler and the standard library.

import CLaunchGuard
import CLaunchGuardFaults

enum Traps {
    struct OutOfLuck: Error {}

    @inline(never) static func throwError() throws { throw OutOfLuck() }
    @inline(never) static func keep(_ value: Int) { if value == zero + 1_234_567 { lgf_wrong("0 is not 0") } }
    @inline(never) static func nothing() -> Int? { zero == 0 ? nil : 1 }
    @inline(never) static func implicitNothing() -> Int! { zero == 0 ? nil : 1 }

    static func add() {
        launchguard_faults.add(
            "swift-fatal-error", "calls fatalError()", .trap(LG_CRASH_TRAP_SWIFT_FATAL_ERROR, message: "out of luck").sentence("out of luck in ")
        ) { fatalError("out of luck") }
        launchguard_faults.add(
            "swift-index", "reads beyond the end of an array", .debugTrap(LG_CRASH_TRAP_SWIFT, message: "Index out of range").sentence("Index out of range in ")
        ) {
            let numbers = [zero, zero, zero]
            Traps.keep(numbers[zero + 10])
        }
        launchguard_faults.add(
            "swift-nil", "unwraps nil", .debugTrap(LG_CRASH_TRAP_SWIFT_NIL, message: "Unexpectedly found nil")
        ) { Traps.keep(Traps.nothing()!) }
        launchguard_faults.add(
            "swift-nil-implicit", "unwraps nil implicitly", .debugTrap(LG_CRASH_TRAP_SWIFT_NIL, message: "Unexpectedly found nil")
        ) { Traps.keep(Traps.implicitNothing() + 1) }
        launchguard_faults.add("swift-overflow", "adds 1 to the greatest Int", .silentTrap.sentence("arithmetic overflow in ")) { Traps.keep(Int.max - zero + 1) }
        launchguard_faults.add(
            "swift-narrowing", "converts 300 to UInt8", .debugTrap(LG_CRASH_TRAP_SWIFT, message: "Not enough bits")
        ) { Traps.keep(Int(UInt8(zero + 300))) }
        launchguard_faults.add(
            "swift-div0", "divides by zero", .debugTrap(LG_CRASH_TRAP_SWIFT, message: "Division by zero")
        ) { Traps.keep(7 / zero) }
        launchguard_faults.add(
            "swift-precondition", "violates a precondition", .debugTrap(LG_CRASH_TRAP_SWIFT, message: "out of luck")
        ) { precondition(zero == 1, "out of luck") }
        launchguard_faults.add(
            "swift-assert", "fails an assertion, which an optimised build skips",
            optimized ? .clean : .trap(LG_CRASH_TRAP_SWIFT, message: "out of luck")
        ) { assert(zero == 1, "out of luck") }
        launchguard_faults.add(
            "swift-try", "meets an error with try!", .trap(LG_CRASH_TRAP_SWIFT_ERROR, message: "OutOfLuck")
        ) { try! Traps.throwError() }
        launchguard_faults.add(
            "swift-error-in-main", "throws an error out of main", .topLevelError(message: "OutOfLuck")
        ) { Program.throwsAtTheEnd = true }
    }
}
