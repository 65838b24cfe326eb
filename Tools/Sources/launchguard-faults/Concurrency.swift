// Section F: queues, actors, tasks.

import CLaunchGuard
import CLaunchGuardFaults
import Dispatch
import Glibc

enum Concurrency {
    @inline(never) static func index(_ numbers: [Int], at place: Int) async -> Int {
        await Task.yield()
        return numbers[place]
    }
    @inline(never) static func middle(_ numbers: [Int]) async -> Int {
        let first = await index(numbers, at: zero)
        return first + (await index(numbers, at: zero + 10))
    }
    @inline(never) static func outer(_ numbers: [Int]) async -> Int {
        await middle(numbers) + zero
    }
    @MainActor @inline(never) static func mainIndex(_ numbers: [Int], at place: Int) async -> Int {
        await Task.yield()
        return numbers[place]
    }
    @MainActor @inline(never) static func mainMiddle(_ numbers: [Int]) async -> Int {
        await mainIndex(numbers, at: zero + 10) + zero
    }
    @MainActor @inline(never) static func mainOuter(_ numbers: [Int]) async -> Int {
        await mainMiddle(numbers) + zero
    }
    @inline(never) static func inGroup(_ numbers: [Int]) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            group.addTask { await outer(numbers) + zero }
            return await group.reduce(0, +)
        }
    }
    actor Reader {
        @inline(never) func read(_ numbers: [Int]) async -> Int { await outer(numbers) + zero }
    }

    /// A crash after a suspension, three calls deep: its callers are on no stack.
    static func add(
        _ name: StaticString, _ summary: StaticString, sentence: StaticString = "Index out of range in static Concurrency.index(_:at:)",
        run: @convention(c) () -> Void
    ) {
        let expected = Expected.debugTrap(LG_CRASH_TRAP_SWIFT, message: "Index out of range")
        launchguard_faults.add(name, summary, expected.sentence(sentence), ownThreads: true, run: run)
    }

    @inline(never) static func pause() async -> Int {
        try? await Task.sleep(for: .seconds(3600))
        return zero
    }
    @inline(never) static func download() async -> Int {
        await pause() + zero
    }
    /// A job that waits while its time passes.
    @inline(never) static func job() async -> Int {
        var deadline: UInt64 = 0
        lg_deadline_begin(lgf_read_session(), "download", 200, &deadline)
        withUnsafeCurrentTask { _ = lg_deadline_of_task(lgf_read_session(), deadline, unsafeBitCast($0, to: UnsafeRawPointer?.self)) }
        return await download() + zero
    }
    /// Functions whose thread stands in a synchronous function for good, whatever others wait for.
    nonisolated(unsafe) private static var standing = lgf_sign()
    /// It then reads beyond the end of an array.
    nonisolated(unsafe) private static var isOverOnceSeen = false
    @inline(never) static func stand() -> Int {
        lg_heartbeat(lgf_read_session())
        lgf_sign_give(&standing)
        while zero == 0 && !(isOverOnceSeen && hasSnapshot(of: LG_SNAPSHOT_HANG)) { lgf_sleep_ms(10) }
        return [1, 2, 3][zero + 10]
    }
    @inline(never) static func standAfterAWait() async -> Int {
        await Task.yield()
        return stand() + zero
    }
    @inline(never) static func standMiddle() async -> Int { await standAfterAWait() + zero }
    @inline(never) static func standOuter() async -> Int { await standMiddle() + zero }
    @MainActor @inline(never) static func standOnMainAfterAWait() async -> Int {
        await Task.yield()
        return stand() + zero
    }
    @MainActor @inline(never) static func standOnMainMiddle() async -> Int { await standOnMainAfterAWait() + zero }
    @MainActor @inline(never) static func standOnMainOuter() async -> Int { await standOnMainMiddle() + zero }
    static func waitForStanding() { lgf_sign_wait_for_thread(&standing) }

    static func killWithSnapshot(of kind: lg_snapshot_kind) -> Never {
        while !hasSnapshot(of: kind) { lgf_sleep_ms(10) }
        kill(getpid(), SIGKILL)
        lgf_wait()
    }
    /// The stacks are in the file, where there is one.
    private static func hasSnapshot(of kind: lg_snapshot_kind) -> Bool {
        var reader: OpaquePointer?
        var snapshot = lg_snapshot_info()
        guard lgf_read_session() != nil else { return true }
        defer { lg_reader_close(reader) }
        return lg_reader_open(lg_session_run_path(lgf_read_session()), &reader) == LG_OK
            && lg_reader_snapshot(reader, kind, &snapshot) == LG_OK && snapshot.complete == 1
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
        add("swift-async-callers", "reads beyond the end of an array in an async function, three calls deep") {
            Task.detached { Traps.keep(await Concurrency.outer([1, 2, 3])) }
            lgf_wait()
        }
        add(
            "swift-async-main-actor", "the same on the main actor", sentence: "Index out of range in static Concurrency.mainIndex(_:at:)"
        ) {
            Task.detached { Traps.keep(await Concurrency.mainOuter([1, 2, 3])) }
            dispatchMain()
        }
        add("swift-async-actor", "the same, called by an actor") {
            Task.detached { Traps.keep(await Reader().read([1, 2, 3])) }
            lgf_wait()
        }
        add("swift-async-group", "the same, in a task of a group") {
            Task.detached { Traps.keep(await Concurrency.inGroup([1, 2, 3])) }
            lgf_wait()
        }
        launchguard_faults.add("swift-async-deadline", "is killed when the time of a job has passed whose task waits", .killed, ownThreads: true) {
            Task.detached { Traps.keep(await Concurrency.job()) }
            Concurrency.killWithSnapshot(of: LG_SNAPSHOT_DEADLINE)
        }
        launchguard_faults.add("swift-async-hang", "hangs in an async function, three calls deep, and is killed", .hung, ownThreads: true) {
            lgf_sign_make(&Concurrency.standing)
            Task.detached { Traps.keep(await Concurrency.standOuter()) }
            Concurrency.waitForStanding()
            Concurrency.killWithSnapshot(of: LG_SNAPSHOT_HANG)
        }
        launchguard_faults.add(
            "swift-async-hang-then-trap", "hangs, and then reads beyond the end of an array", .debugTrap(LG_CRASH_TRAP_SWIFT, message: "Index out of range").lasting(5000),
            ownThreads: true
        ) {
            Concurrency.isOverOnceSeen = true
            lgf_sign_make(&Concurrency.standing)
            Task.detached { Traps.keep(await Concurrency.standOuter()) }
            lgf_wait()
        }
        launchguard_faults.add("swift-async-hang-main-actor", "the same on the main actor", .hung, ownThreads: true) {
            lgf_sign_make(&Concurrency.standing)
            Task.detached { Traps.keep(await Concurrency.standOnMainOuter()) }
            DispatchQueue(label: "org.launchguard.faults").async { Concurrency.killWithSnapshot(of: LG_SNAPSHOT_HANG) }
            dispatchMain()
        }
        add(
            "swift-async-two-threads", "crashes in an async function of the main actor, while another async function stands",
            sentence: "Index out of range in static Concurrency.mainIndex(_:at:)"
        ) {
            lgf_sign_make(&Concurrency.standing)
            Task.detached { Traps.keep(await Concurrency.standOuter()) }
            Concurrency.waitForStanding()
            Task.detached { Traps.keep(await Concurrency.mainOuter([1, 2, 3])) }
            dispatchMain()
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
