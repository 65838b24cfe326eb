internal import CThread
internal import Dispatch
import Synchronization

/// The threads that serve the main actor. Where the main thread serves its queue that is the main
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
    static var isCurrent: Bool { lg_shim_is_main_thread() != 0 || DispatchQueue.getSpecific(key: mark) != nil }

    /// A call for the main thread comes from elsewhere: ask what is to be done.
    static func claim(_ call: @autoclosure () -> String, of subjects: [any Any.Type], at site: Site) -> Bool {
        guardClaim(
            .confinement, of: subjects, at: site, "\(call()) is called on a thread other than the main one",
            ["main actor": isWaitedFor.load(ordering: .relaxed) ? "has served nothing since an earlier such call" : "serves"])
    }

    /// Call it on the main actor, later. When the main actor has not come to it after
    /// ``patience``, this is told as well: the program may not serve the main queue at all.
    static func send(_ operation: @escaping @MainActor @Sendable () -> Void) {
        let isWatched = isWaitedFor.exchange(true, ordering: .acquiringAndReleasing)
        let isServed = Flag()
        Task { @MainActor in
            isServed.value.store(true, ordering: .relaxed)
            isWaitedFor.store(false, ordering: .releasing)
            operation()
        }
        guard !isWatched else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) {
            guard !isServed.value.load(ordering: .relaxed) else { return }
            _ = guardClaim(
                .confinement, of: [], at: .own, "calls that were sent to the main actor wait: it has served none for \(patience) s",
                ["main actor": "serves nothing"])
        }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// Seconds.
    static let patience = 2.0

    /// A call was sent, and since then none was served.
    private static let isWaitedFor = Atomic(false)
}
