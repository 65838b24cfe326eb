internal import CCallSite
public import Dispatch
import Synchronization

/// Starts, suspends and ends a dispatch source (timer, signal, read and all others) that stands
/// uses out of order.
///
/// ```swift
/// let timer = DispatchSource.makeTimerSource(queue: queue)
/// timer.schedule(deadline: .now(), repeating: .seconds(1))
/// timer.setEventHandler { refresh() }
/// let refreshes = GuardedSource(timer)
/// refreshes.resume()
/// ```
///
/// Three things are faults of ``GuardClass/timer``. Unguarded, each is what libdispatch makes of
/// it:
///
/// - A source is resumed that runs. Guarded, nothing happens. Unguarded, an illegal instruction
///   ends the program, without a word.
/// - A source is suspended that does not run. Guarded, nothing happens. Unguarded, it takes one
///   more ``resume()`` to let it go on.
/// - This object ends while the source is suspended or was never started. Guarded, the source is
///   cancelled and resumed, so that its cancel handler runs. Unguarded, the same illegal
///   instruction ends the program, unless something else holds the source. The site of this event
///   is where the object was made.
///
/// Set handlers and schedule on the source itself; start, suspend and resume it only here. Any
/// thread may call every member.
@safe
public final class GuardedSource: Sendable {
    private struct State {
        /// Suspensions of the source, as libdispatch counts them.
        var suspensions = 0
        var isActive = false

        var runs: Bool { isActive && suspensions == 0 }
    }

    private nonisolated(unsafe) let source: any DispatchSourceProtocol
    private let site: Site
    /// Held while libdispatch is called, so that both agree. The handlers of a source are called
    /// from its queue, never from there.
    private let state = Mutex(State())

    /// Take over a source that was made and never resumed.
    @inline(never)
    public convenience init(_ source: any DispatchSourceProtocol) {
        self.init(source, madeAt: unsafe Site(lg_shim_call_site()))
    }

    private init(_ source: any DispatchSourceProtocol, madeAt site: Site) {
        unsafe self.source = source
        self.site = site
    }

    deinit {
        let (runs, isActive, suspensions) = state.withLock { ($0.runs, $0.isActive, $0.suspensions) }
        guard !runs, guardClaim(.timer, of: [Self.self], at: site, "a dispatch source is released that \(isActive ? "is suspended" : "was never started")", ["suspensions": "\(suspensions)"])
        else { return }
        unsafe source.cancel()
        if !isActive { unsafe source.activate() }
        for _ in 0..<suspensions { unsafe source.resume() }
    }

    /// Start the source. Further calls change nothing.
    public func activate() {
        state.withLock { state in
            state.isActive = true
            unsafe source.activate()
        }
    }

    /// Start the source, or let it go on after ``suspend()``.
    @inline(never)
    public func resume() {
        let site = unsafe Site(lg_shim_call_site())
        state.withLock { state in
            if state.runs, guardClaim(.timer, of: [Self.self], at: site, "a dispatch source is resumed that runs") { return }
            if state.suspensions > 0 { state.suspensions -= 1 } else { state.isActive = true }
            unsafe source.resume()
        }
    }

    /// Hold the source. One ``resume()`` lets it go on, however often it was suspended.
    @inline(never)
    public func suspend() {
        let site = unsafe Site(lg_shim_call_site())
        state.withLock { state in
            let suspensions = state.suspensions
            if !state.runs,
                guardClaim(.timer, of: [Self.self], at: site, "a dispatch source is suspended that does not run", ["suspensions": "\(suspensions)"])
            {
                return
            }
            state.suspensions += 1
            unsafe source.suspend()
        }
    }

    /// End the source. Further calls change nothing. The cancel handler of a source that does not
    /// run waits until it runs, or until this object ends.
    public func cancel() { unsafe source.cancel() }

    /// Whether the source was cancelled.
    public var isCancelled: Bool { unsafe source.isCancelled }
}
