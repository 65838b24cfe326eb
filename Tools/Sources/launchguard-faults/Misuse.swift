// Section F: mistakes that the runtime notices, or that nothing notices.

import CLaunchGuard
import CLaunchGuardFaults
import Glibc

enum Misuse {
    class Animal { var age = zero }
    class Cat: Animal {}
    class Dog: Animal {}

    final class Counter { var value = zero }

    @inline(never) static func modify(_ value: inout Int, while body: () -> Void) {
        value += 1
        body()
    }
    @inline(never) static func make(cat: Bool) -> Animal { cat ? Cat() : Dog() }
    nonisolated(unsafe) static var counter = Counter()

    static func add() {
        launchguard_faults.add(
            "swift-cast", "casts an object to a class that it is not", .abort(LG_CRASH_ABORT_SWIFT_CAST, message: "Could not cast")
        ) { Traps.keep((Misuse.make(cat: zero == 1) as! Cat).age) }
        launchguard_faults.add(
            "swift-exclusivity", "reads a variable while it modifies it",
            .abort(LG_CRASH_ABORT_SWIFT_EXCLUSIVITY, message: "access conflict")
        ) { Misuse.modify(&Misuse.counter.value) { Traps.keep(Misuse.counter.value) } }
        launchguard_faults.add(
            "swift-unowned", "uses an unowned object after its end",
            .abort(LG_CRASH_ABORT_SWIFT_UNOWNED, message: "Attempted to read an unowned reference")
        ) {
            var owner: Animal? = Misuse.make(cat: true)
            unowned let animal = owner!
            owner = nil
            Traps.keep(animal.age)
        }
        launchguard_faults.add("swift-unowned-unsafe", "uses an unowned(unsafe) object after its end", .anything) {
            var owner: Animal? = Misuse.make(cat: true)
            unowned(unsafe) let animal = owner!
            owner = nil
            Traps.keep(animal.age)
        }
        launchguard_faults.add("swift-over-release", "releases an object once too often", .anything) {
            let object = Misuse.make(cat: true)
            Unmanaged.passUnretained(object).release()
        }
        launchguard_faults.add(
            "swift-huge-allocation", "allocates more than the address space", .abort(LG_CRASH_ABORT_ALLOC, message: "failed to allocate")
        ) {
            let pointer = UnsafeMutableRawPointer.allocate(byteCount: Int.max - 4096 - zero, alignment: 8)
            pointer.storeBytes(of: 1, as: UInt8.self)
        }
        launchguard_faults.add(
            "swift-pointer", "writes to address 8", .crash(SIGSEGV, LG_CRASH_NULL_OFFSET, address: LGF_ADDRESS_YES)
        ) { UnsafeMutableRawPointer(bitPattern: zero + 8)!.storeBytes(of: 1, as: UInt8.self) }
    }
}
