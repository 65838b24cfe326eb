internal import CCallSite
public import Dispatch

/// A timer that does not keep its owner alive, and that ends itself when it finds the owner gone.
///
/// ```swift
/// GuardedTimer(owner: player, every: .seconds(1), on: queue) { player in player.showProgress() }
/// ```
///
/// The timer lives until it is cancelled, whether or not the program keeps the object: an owner
/// that ends cancels it. A timer that fires for an owner that is gone is a fault of
/// ``GuardClass/timer``, whose site is where the timer was made. Guarded, the timer is cancelled.
/// Unguarded, the program traps, as a timer does whose handler refers to its owner as `unowned`.
/// An owner that cancels in its `deinit` ends on the queue: elsewhere the timer may fire meanwhile.
///
/// Any thread may call every member.
@safe
public final class GuardedTimer: Sendable {
    private nonisolated(unsafe) let source: any DispatchSourceTimer

    /// Start a timer.
    ///
    /// - Parameters:
    ///   - owner: not kept alive by the timer.
    ///   - interval: between two calls, and before the first; a shorter one is a millisecond.
    ///   - queue: on which the handler runs.
    ///   - handler: gets the owner; it should not capture the owner.
    @inline(never)
    @discardableResult
    public convenience init<Owner: AnyObject & Sendable>(
        owner: Owner, every interval: Duration, on queue: DispatchQueue, _ handler: @escaping @Sendable (Owner) -> Void
    ) {
        self.init(owner, interval, queue, madeAt: unsafe Site(lg_shim_call_site()), handler)
    }

    private init<Owner: AnyObject & Sendable>(
        _ owner: Owner, _ interval: Duration, _ queue: DispatchQueue, madeAt site: Site, _ handler: @escaping @Sendable (Owner) -> Void
    ) {
        let type: any AnyObject.Type = type(of: owner)
        let time = DispatchTimeInterval(max(interval, .milliseconds(1)))
        unsafe source = DispatchSource.makeTimerSource(queue: queue)
        unsafe source.schedule(deadline: .now() + time, repeating: time)
        // The handler keeps the timer. Dispatch drops the handler when the source is cancelled.
        unsafe source.setEventHandler { [weak owner, unowned unownedOwner = owner, self] in
            if let owner { return handler(owner) }
            if isCancelled { return }
            guard guardClaim(.timer, of: [type], at: site, "a timer fires whose owner, \(type), is gone", ["owner": "\(type)"]) else {
                return handler(unownedOwner)
            }
            cancel()
        }
        unsafe source.activate()
    }

    /// End the timer. A handler that runs is not waited for. Further calls change nothing.
    public func cancel() { unsafe source.cancel() }

    /// Whether the timer was cancelled, by the program or for want of its owner.
    public var isCancelled: Bool { unsafe source.isCancelled }
}

extension DispatchTimeInterval {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        // libdispatch counts nanoseconds: more than a century is for ever.
        self = seconds < 1 << 32 ? .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)) : .never
    }
}
