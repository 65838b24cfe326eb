internal import CCallSite
public import Foundation
internal import LaunchGuardGuards
import Synchronization

/// Observes notifications for an owner that it does not keep alive.
///
/// ```swift
/// NotificationObserver(owner: player, of: .trackFinished) { player, _ in player.playNext() }
/// ```
///
/// The observer lives until it is removed, whether or not the program keeps the object: an owner
/// that ends removes it. Two things are faults of `GuardClass.observer`:
///
/// - A notification reaches an observer whose owner is gone. Guarded, the observer is removed.
///   Unguarded, the program traps, as a handler does that refers to its owner as `unowned`. The
///   site of this event is where the observer was added.
/// - An observer is removed twice. Nothing happens, also unguarded: Foundation ignores it.
///
/// That an owner observes the same notification twice is no fault: Foundation cannot be asked.
///
/// Any thread may call every member.
@safe
public final class NotificationObserver: Sendable {
    private let center: NotificationCenter
    /// nil once it was removed.
    private let registration = Mutex<Registration?>(nil)
    private let ownerType: any AnyObject.Type

    /// The centre's name for an observer, which any thread may hand back.
    private struct Registration: @unchecked Sendable {
        let token: any NSObjectProtocol
    }

    /// Observe from now on.
    ///
    /// - Parameters:
    ///   - owner: not kept alive.
    ///   - name: of the notifications.
    ///   - sender: their sender; `nil` for any.
    ///   - center: that posts them.
    ///   - queue: on which the handler runs; `nil` for the thread that posts.
    ///   - handler: gets the owner and the notification; it should not capture the owner.
    @inline(never)
    @discardableResult
    public convenience init<Owner: AnyObject & Sendable>(
        owner: Owner, of name: Notification.Name, from sender: Any? = nil, in center: NotificationCenter = .default, on queue: OperationQueue? = nil,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) {
        self.init(owner, name, sender, center, queue, addedAt: unsafe Site(lg_shim_call_site()), handler)
    }

    private init<Owner: AnyObject & Sendable>(
        _ owner: Owner, _ name: Notification.Name, _ sender: Any?, _ center: NotificationCenter, _ queue: OperationQueue?, addedAt site: Site,
        _ handler: @escaping @Sendable (Owner, Notification) -> Void
    ) {
        let type: any AnyObject.Type = type(of: owner)
        self.center = center
        ownerType = type
        let token = center.addObserver(forName: name, object: sender, queue: queue) { [weak owner, unowned unownedOwner = owner, self] notification in
            if let owner { return handler(owner, notification) }
            if isRemoved { return }
            guard
                guardClaim(
                    .observer, of: [type], at: site, "a notification reaches an observer whose owner, \(type), is gone",
                    ["owner": "\(type)", "notification": name.rawValue])
            else { return handler(unownedOwner, notification) }
            _ = end()
        }
        registration.withLock { [registration = Registration(token: token)] in $0 = registration }
        withExtendedLifetime(owner) {}  // Till now `isRemoved` says too much.
    }

    /// Observe no longer. The owner may be in its `deinit`.
    @inline(never)
    public func remove() {
        let site = unsafe Site(lg_shim_call_site())
        if !end() { _ = guardClaim(.observer, of: [ownerType], at: site, "\(ownerType) is removed as an observer, and is none", ["owner": "\(ownerType)"]) }
    }

    /// Whether the observer was removed, by the program or for want of its owner.
    public var isRemoved: Bool { registration.withLock { $0 == nil } }

    private func end() -> Bool {
        guard let registration = registration.withLock({ $0.take() }) else { return false }
        center.removeObserver(registration.token)
        return true
    }
}
