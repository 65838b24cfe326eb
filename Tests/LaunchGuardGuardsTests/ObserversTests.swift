import Foundation
import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardObservers
import Testing
import TestSupport

/// The list itself, which no session is needed for, and what is particular about its faults.
@Suite struct ObserversTests {
    final class Owner: Sendable {}

    @Test func eventsReachObserversInTheOrderOfTheirAddition() {
        let list = Observers<String>(), journal = Journal(), first = Owner(), second = Owner()
        list.add(first) { owner, event in journal.add("first \(event) \(owner === first)") }
        let token = list.add(second) { owner, event in journal.add("second \(event) \(owner === second)") }
        list.post("a")
        list.remove(first)
        list.post("b")
        list.remove(token)
        list.post("c")
        #expect(journal.all == ["first a true", "second a true", "second b true"])
    }

    @Test func handlersMayAddRemoveAndPost() {
        let list = Observers<Int>(), journal = Journal(), first = Owner(), second = Owner(), third = Owner()
        list.add(first) { [unowned list] _, event in
            journal.add("first \(event)")
            guard event == 1 else { return }
            list.remove(second)
            list.add(third) { _, event in journal.add("third \(event)") }
            list.post(2)
        }
        list.add(second) { _, event in journal.add("second \(event)") }
        list.post(1)
        #expect(journal.all == ["first 1", "first 2", "third 2"], "who is removed gets nothing more, not even the event under way")
    }

    /// It is removed with no event, although the list does not keep it alive.
    @Test func anOwnerMayRemoveItselfAtItsEnd() async throws {
        final class Leaving: Sendable {
            let list: Observers<Int>
            init(_ list: Observers<Int>) { self.list = list }
            deinit { list.remove(self) }
        }
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded(.fatal)
            let list = Observers<Int>()
            for _ in 0..<10 {
                do { list.add(Leaving(list)) { _, _ in exit(1) } }
                list.post(1)
            }
        }
        #expect(try scene.told().isEmpty)
    }

    @Test func unguardedAnOwnerThatIsAddedTwiceIsCalledTwice() {
        let list = Observers<Int>(), journal = Journal(), owner = Owner()
        list.add(owner) { _, event in journal.add("former \(event)") }
        list.add(owner) { _, event in journal.add("latter \(event)") }
        list.post(1)
        list.remove(owner)
        list.post(2)
        list.remove(owner)
        list.post(3)
        #expect(journal.all == ["former 1", "latter 1", "former 2"])
    }

    @Test func guardedAnOwnerThatIsAddedTwiceIsCalledOnce() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            let session = try scene.startGuarded()
            let list = Observers<Int>(), journal = Journal(), owner = Owner()
            list.add(owner) { _, event in journal.add("former \(event)") }
            let token = list.add(owner) { _, event in journal.add("latter \(event)") }
            list.post(1)
            list.remove(token)
            list.post(2)
            expect(journal.all == ["former 1"], "\(journal.all)")
            session.guards.stop()
            for _ in 0..<2 { list.add(owner) { _, event in journal.add("stopped \(event)") } }
            list.post(3)
            expect(journal.all == ["former 1", "stopped 3", "stopped 3"], "\(journal.all)")
        }
        #expect(try scene.told() == ["Owner is added as an observer, and is one already owner=Owner event=Int"])
    }

    @Test func ofManyThreadsOneFindsTheOwnerGone() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            let session = try scene.start(), counts = Journal()
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            configuration.onEvent = { counts.add("\($0.count)") }
            try session.guards.start(configuration)
            let list = Observers<Int>(), living = Owner(), journal = Journal()
            list.add(living) { _, _ in journal.add("") }
            do { list.add(Owner()) { _, _ in exit(1) } }
            DispatchQueue.concurrentPerform(iterations: 100) { list.post($0) }
            expect(journal.all.count == 100)
            try counts.wait(for: 1)
            session.guards.stop()
            passTime(.milliseconds(100), why: "a second event would come in it")
            expect(counts.all == ["1"], "\(counts.all)")
            withExtendedLifetime(living) {}
        }
    }

    @Test func threadsShareAList() {
        let list = Observers<Int>(), journal = Journal()
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            let owner = Owner()
            let token = list.add(owner) { _, event in if event == number { journal.add("") } }
            list.post(number)
            if number % 2 == 0 { list.remove(owner) } else { list.remove(token) }
            list.post(number)
            withExtendedLifetime(owner) {}
        }
        #expect(journal.all.count == 200)
    }

    // MARK: Not claimed

    /// The end of an owner alone is not reported: only an event finds it.
    @Test func withoutAnEventTheEndOfAnOwnerIsNotTold() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let list = Observers<Int>()
            do { list.add(Owner()) { _, _ in } }
            passTime(.milliseconds(100), why: "nothing notices the end of an owner")
            withExtendedLifetime(list) {}
        }
        #expect(try scene.told().isEmpty)
    }

    /// A handler that captures its owner keeps the owner alive, so that it is never gone.
    @Test func anOwnerThatItsHandlerKeepsIsNotFound() {
        let list = Observers<Int>()
        weak var former: Owner?
        do {
            let owner = Owner()
            former = owner
            list.add(owner) { _, _ in withExtendedLifetime(owner) {} }
        }
        list.post(1)
        #expect(former != nil)
    }

    /// A token names an observer in one list.
    @Test func aTokenOfAnotherListRemovesNothing() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let list = Observers<Int>(), other = Observers<Int>(), owner = Owner(), journal = Journal()
            let token = list.add(owner) { _, _ in journal.add("") }
            other.add(owner) { _, _ in journal.add("") }
            other.remove(token)
            list.post(1)
            other.post(1)
            expect(journal.all.count == 2)
        }
        #expect(try scene.told() == ["Owner is removed as an observer, and is none owner=Owner event=Int"])
    }
}
