internal import CThread
internal import Dispatch
import Synchronization

/// The threads that serve the main actor. Where the main thread serves its queue, that is the main
/// thread; else, after `dispatchMain()` or with an asynchronous `main`, threads of the pool take
/// turns with the queue.
enum MainThread {
    private static let mark = {
        let mark = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: mark, value: ())
        return mark
    }()

    /// Whether the caller is on the main thread, or works on the main queue. Not true in a `sync`
    /// to another queue that the main queue waits for on a thread of the pool.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil || lg_shim_is_main_thread() != 0 }

    /// Something of the main actor is done elsewhere: ask what is to be done instead.
    static func claim(_ what: @autoclosure () -> String, of subjects: [any Any.Type], at site: Site) -> Bool {
        guardClaim(
            .confinement, of: subjects, at: site, "\(what()) off the main actor",
            isWaitedFor.load(ordering: .relaxed) ? ["main actor": "has served nothing since an earlier event"] : [:])
    }

    /// Call a function on the main actor, later. When the main actor has not come to it after
    /// ``patience``, that is reported as well: the program may not serve the main queue at all.
    static func send(_ operation: @escaping @MainActor @Sendable () -> Void) {
        let isWatched = isWaitedFor.exchange(true, ordering: .acquiringAndReleasing)
        let isServed = Flag()
        Task { @MainActor in
            isServed.value.store(true, ordering: .relaxed)
            isWaitedFor.store(false, ordering: .releasing)
            operation()
        }
        guard !isWatched else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience)) {
            guard !isServed.value.load(ordering: .relaxed) else { return }
            _ = guardClaim(.confinement, of: [], at: .own, "the main actor has served nothing for \(patience) s, and calls that were sent to it wait")
        }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Seconds.
    private static let patience = 2

    /// A call was sent, and since then none was served.
    private static let isWaitedFor = Atomic(false)
}
