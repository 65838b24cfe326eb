internal import CCallSite
internal import LaunchGuardGuards
import Synchronization

/// Observers of one kind of event, each with an owner that it does not keep alive.
///
/// ```swift
/// let finished = Observers<Track>()
/// finished.add(player) { player, track in player.remove(track) }
/// finished.post(track)
/// finished.remove(player)
/// ```
///
/// Observing goes wrong in three ways, each a fault of `GuardClass.observer`:
///
/// - An owner is added that is already there. Guarded, nothing changes. Unguarded, each event
///   reaches both handlers.
/// - An owner or a token is removed that is not there. Guarded, nothing happens. Unguarded, the
///   program traps.
/// - An event reaches an observer whose owner is gone. Guarded, the observer is removed. Unguarded,
///   the program traps, as a handler does that refers to its owner as `unowned`. The site of this
///   event is where the observer was added.
///
/// Any thread may call every member. Handlers run on the thread that posts, in the order in which
/// they were added, and under no lock: they may add, remove and post. An observer that is removed
/// gets no further event; one that another thread removes may just be getting one.
public final class Observers<Event>: Sendable {
    /// Names an observer, for ``Observers/remove(_:)-(Observers<Event>.Token)``.
    public struct Token: Sendable {
        fileprivate let number: UInt64
        fileprivate let ownerType: any AnyObject.Type
    }

    private final class Observer: Sendable {
        let token: Token
        /// The handler's reference to the owner is unowned, which keeps the address of the owner
        /// from being that of another object.
        let owner: ObjectIdentifier
        let site: Site
        /// - Returns: false when the owner is gone.
        let deliver: @Sendable (Event) -> Bool
        let deliverToUnowned: @Sendable (Event) -> Void
        let isRemoved = Atomic(false)

        init<Owner: AnyObject & Sendable>(_ owner: Owner, at site: Site, _ handler: @escaping @Sendable (Owner, Event) -> Void) {
            token = Token(number: observerNumbers.add(1, ordering: .relaxed).newValue, ownerType: type(of: owner))
            self.owner = ObjectIdentifier(owner)
            self.site = site
            deliver = { [weak owner] event in
                guard let owner else { return false }
                handler(owner, event)
                return true
            }
            deliverToUnowned = { [unowned owner] event in handler(owner, event) }
        }
    }

    private let observers = Mutex<[Observer]>([])

    /// Make a list without observers.
    public init() {}

    /// Let an owner observe the events from now on.
    ///
    /// - Parameters:
    ///   - owner: not kept alive. Its end removes it with the next event, and is then a fault: an
    ///     owner removes itself, at the latest in its `deinit`.
    ///   - handler: gets the owner and the event; it should not capture the owner.
    /// - Returns: a name for the observer. An owner that is already there stays as it is, and keeps
    ///   its name.
    @inline(never)
    @discardableResult
    public func add<Owner: AnyObject & Sendable>(_ owner: Owner, _ handler: @escaping @Sendable (Owner, Event) -> Void) -> Token {
        let site = unsafe Site(lg_shim_call_site()), identity = ObjectIdentifier(owner)
        if let former = observers.withLock({ $0.last { $0.owner == identity } }),
            guardClaim(
                .observer, of: [type(of: owner)], at: site, "\(type(of: owner)) is added as an observer, and is one already",
                ["owner": "\(type(of: owner))", "event": "\(Event.self)"])
        {
            return former.token
        }
        let observer = Observer(owner, at: site, handler)
        observers.withLock { $0.append(observer) }
        return observer.token
    }

    /// Remove the observer of an owner. The owner may be in its `deinit`, where no other thread
    /// posts meanwhile: an event of that moment finds the owner gone. Where an owner was
    /// added more than once, unguarded, the last observer is removed.
    @inline(never)
    public func remove(_ owner: some AnyObject) {
        let site = unsafe Site(lg_shim_call_site()), identity = ObjectIdentifier(owner)
        if !remove(where: { $0.owner == identity }) { missed(type(of: owner), at: site) }
    }

    /// Remove an observer by the name that it got when it was added.
    @inline(never)
    public func remove(_ token: Token) {
        let site = unsafe Site(lg_shim_call_site())
        if !remove(where: { $0.token.number == token.number }) { missed(token.ownerType, at: site) }
    }

    /// Call the handlers of all observers.
    public func post(_ event: Event) {
        for observer in observers.withLock({ $0 }) where !observer.isRemoved.load(ordering: .acquiring) {
            if !observer.deliver(event) { drop(observer, event) }
        }
    }

    private func remove(where isMeant: (Observer) -> Bool) -> Bool {
        observers.withLock { observers in
            guard let index = observers.lastIndex(where: isMeant) else { return false }
            observers.remove(at: index).isRemoved.store(true, ordering: .releasing)
            return true
        }
    }

    private func missed(_ ownerType: any AnyObject.Type, at site: Site) {
        guard !guardClaim(
            .observer, of: [ownerType], at: site, "\(ownerType) is removed as an observer, and is none",
            ["owner": "\(ownerType)", "event": "\(Event.self)"])
        else { return }
        preconditionFailure("\(ownerType) is removed as an observer, and is none")
    }

    /// Where the events of several threads find the owner gone, one of the threads reports it.
    private func drop(_ observer: Observer, _ event: Event) {
        guard remove(where: { $0 === observer }) else { return }
        let type: any AnyObject.Type = observer.token.ownerType
        guard !guardClaim(
            .observer, of: [type], at: observer.site, "an event reaches an observer whose owner, \(type), is gone",
            ["owner": "\(type)", "event": "\(Event.self)"])
        else { return }
        observer.deliverToUnowned(event)
    }
}

/// Numbers for all lists, so that a token of one list names nothing in another.
private let observerNumbers = Atomic<UInt64>(0)
