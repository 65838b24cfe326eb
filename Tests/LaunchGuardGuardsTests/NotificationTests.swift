import Foundation
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardObservers
import Testing

@Suite struct NotificationTests {
    final class Owner: Sendable {}

    let center = NotificationCenter(), name = Notification.Name("test")

    @Test func aNotificationReachesItsOwner() {
        let owner = Owner(), journal = Journal()
        let observer = NotificationObserver(owner: owner, of: name, in: center) { journal.add("\($0 === owner) \($1.name.rawValue)") }
        center.post(name: name, object: nil)
        center.post(name: Notification.Name("other"), object: nil)
        observer.remove()
        center.post(name: name, object: nil)
        #expect(journal.all == ["true test"])
    }

    /// Foundation ignores a second removal as ever, and the guard reports it.
    @Test func anObserverThatIsRemovedTwiceIsTold() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            let session = try scene.startGuarded()
            let owner = Owner(), observer = NotificationObserver(owner: owner, of: Notification.Name("test")) { _, _ in }
            observer.remove()
            observer.remove()
            session.guards.stop()
            observer.remove()
        }
        #expect(try scene.told() == ["Owner is removed as an observer, and is none owner=Owner"])
    }

    /// Not claimed: closures that Foundation has from elsewhere.
    @Test func aClosureOfTheCentreItselfIsNotGuarded() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGABRT)) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let name = Notification.Name("test")
            do {
                let owner = Owner()
                _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [unowned owner] _ in withExtendedLifetime(owner) {} }
            }
            NotificationCenter.default.post(name: name, object: nil)
        }
        #expect(try scene.told().isEmpty)
    }

    /// Not claimed: Foundation cannot be asked for its observers.
    @Test func anOwnerThatObservesTwiceIsNotFound() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let owner = Owner(), journal = Journal(), name = Notification.Name("test")
            for _ in 0..<2 { NotificationObserver(owner: owner, of: name) { _, _ in journal.add("") } }
            NotificationCenter.default.post(name: name, object: nil)
            expect(journal.all.count == 2)
            withExtendedLifetime(owner) {}
        }
        #expect(try scene.told().isEmpty)
    }
}
