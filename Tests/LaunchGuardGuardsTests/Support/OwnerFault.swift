import Dispatch
import Foundation
import Glibc
import LaunchGuardGuards
import LaunchGuardObservers
import Testing

/// The faults of types with owners that end a program which is not guarded.
enum OwnerFault: String, CaseIterable, Codable, Sendable {
    case ownerNotAdded, tokenRemovedTwice, observerOutlived
    case timerOutlived, resumedTwice, releasedSuspended, releasedNotStarted, releasedCancelled
    case assumedElsewhere, updatedElsewhere, readElsewhere
    case notificationOutlived

    class Player: @unchecked Sendable {}
    final class Video: Player, @unchecked Sendable {}

    /// Signal that ends the unguarded program.
    var signal: CInt {
        switch self {
        case .observerOutlived, .timerOutlived, .notificationOutlived: SIGABRT
        default: SIGILL
        }
    }

    /// The guard's breadcrumb.
    var told: String {
        switch self {
        case .ownerNotAdded, .tokenRemovedTwice: "Video is removed as an observer, and is none owner=Video event=Int"
        case .observerOutlived: "an event reaches an observer whose owner, Video, is gone owner=Video event=Int"
        case .timerOutlived: "a timer fires whose owner, Video, is gone owner=Video"
        case .resumedTwice: "a dispatch source is resumed that runs"
        case .releasedSuspended, .releasedCancelled: "a dispatch source is released that is suspended suspensions=1"
        case .releasedNotStarted: "a dispatch source is released that was never started suspensions=0"
        case .assumedElsewhere: "a function of the main actor is called off the main actor"
        case .updatedElsewhere: "a confined value is changed off the main actor"
        case .readElsewhere: "a confined value is read off the main actor"
        case .notificationOutlived: "a notification reaches an observer whose owner, Video, is gone owner=Video notification=test"
        }
    }

    /// Commit the fault, in a child process; and expect that it is neutralised, if it is survived.
    func commit() {
        let journal = Journal()
        switch self {
        case .ownerNotAdded:
            Observers<Int>().remove(Video())
        case .tokenRemovedTwice:
            let list = Observers<Int>(), video = Video()
            let token = list.add(video) { _, event in journal.add("\(event)") }
            list.remove(token)
            list.remove(token)
            list.post(1)
            expect(journal.all.isEmpty)
        case .observerOutlived:
            let list = Observers<Int>(), player = Player()
            list.add(player) { _, event in journal.add("player \(event)") }
            do { list.add(Video()) { _, event in journal.add("video \(event)") } }
            list.post(1)
            list.post(2)
            expect(journal.all == ["player 1", "player 2"], "\(journal.all)")
            withExtendedLifetime(player) {}
        case .timerOutlived:
            let timer = GuardedTimer(owner: Video(), every: .milliseconds(1), on: .global()) { _ in journal.add("fired") }
            expectWithin("the timer ends") { timer.isCancelled }
        case .resumedTwice:
            let source = GuardedSource(Self.ticks(journal))
            source.resume()
            source.resume()
            expectWithin("2 events come") { journal.all.count >= 2 }
            source.cancel()
        case .releasedSuspended, .releasedNotStarted, .releasedCancelled:
            releaseSource(journal)
            expectWithin("the source is cancelled") { journal.all.last == "cancelled" }
        case .assumedElsewhere:
            Self.elsewhere { MainActor.assumeIsolatedGuarded { journal.add("on the main actor: \(isOnMainActor())") } }
            expectWithin("1 events come") { journal.all.count >= 1 }
            expect(journal.all == ["on the main actor: true"])
        case .updatedElsewhere:
            let value = MainConfined(1)
            Self.elsewhere { value.update { $0 += 1 } }
            Self.elsewhere { DispatchQueue.main.async { journal.add("\(value.read { $0 } ?? 0)") } }
            expectWithin("1 events come") { journal.all.count >= 1 }
            expect(journal.all == ["2"])
        case .readElsewhere:
            let value = MainConfined(1)
            Self.elsewhere { journal.add("\(value.read { $0 } ?? 0)") }
            expect(journal.all == ["0"])
        case .notificationOutlived:
            let name = Notification.Name("test"), center = NotificationCenter()
            let observer = NotificationObserver(owner: Video(), of: name, in: center) { _, _ in journal.add("notified") }
            expect(!observer.isRemoved)
            center.post(name: name, object: nil)
            expect(observer.isRemoved && journal.all.isEmpty)
        }
    }

    /// No reference is left when the function returns.
    @inline(never)
    private func releaseSource(_ journal: Journal) {
        let ticks = Self.ticks(journal)
        ticks.setCancelHandler { journal.add("cancelled") }
        let source = GuardedSource(ticks)
        if self == .releasedNotStarted { return }
        source.activate()
        source.suspend()
        if self == .releasedCancelled { source.cancel() }
    }

    static func ticks(_ journal: Journal, on queue: DispatchQueue = .global()) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.setEventHandler { journal.add("tick") }
        return timer
    }

    /// On a thread that is not the main one, and serves no queue.
    static func elsewhere(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.start()
        expectWithin("the thread ends") { thread.isFinished }
    }
}

/// Whether the caller may call functions of the main actor, by the thread that serves it.
func isOnMainActor() -> Bool { DispatchQueue.getSpecific(key: mainQueueMark) != nil }

private let mainQueueMark = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
}()
