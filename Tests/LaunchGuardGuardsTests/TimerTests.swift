import Dispatch
import Foundation
import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardReportModel
import Testing
import TestSupport

/// Timers with owners, and dispatch sources.
@Suite struct TimerTests {
    final class Owner: Sendable {}

    @Test func aTimerFiresUntilItIsCancelledWhoeverKeepsIt() throws {
        let owner = Owner(), journal = Journal(), queue = DispatchQueue(label: "timer")
        weak var timer: GuardedTimer?
        do {
            let made = GuardedTimer(owner: owner, every: .milliseconds(1), on: queue) { journal.add("\($0 === owner)") }
            timer = made
        }
        try journal.wait(for: 5)
        #expect(Set(journal.all) == ["true"])
        #expect(timer?.isCancelled == false)
        timer?.cancel()
        try blockUntil("a timer that is cancelled is released") { timer == nil }
        queue.sync {}
        let count = journal.all.count
        passTime(.milliseconds(50), why: "a source that runs ticks many times in it")
        #expect(journal.all.count == count)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func anIntervalIsAMillisecondAtLeast(interval: Duration) throws {
        let owner = Owner(), journal = Journal()
        let timer = GuardedTimer(owner: owner, every: interval, on: .global()) { _ in journal.add("") }
        try journal.wait(for: 2)
        timer.cancel()
    }

    @Test(arguments: [Duration.seconds(9_223_372_036), .seconds(Int64.max)])
    func anIntervalMayBeLongerThanLibdispatchCounts(interval: Duration) {
        let owner = Owner(), journal = Journal()
        let timer = GuardedTimer(owner: owner, every: interval, on: .global()) { _ in journal.add("") }
        passTime(.milliseconds(20), why: "an interval that wraps around is short")
        #expect(journal.all.isEmpty && !timer.isCancelled)
        timer.cancel()
    }

    @Test func anOwnerMayCancelItsTimerAtItsEnd() async throws {
        final class Leaving: @unchecked Sendable {
            var timer: GuardedTimer?
            deinit { timer?.cancel() }
        }
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded(.fatal)
            let queue = DispatchQueue(label: "timers"), journal = Journal()
            for count in 1...10 {
                nonisolated(unsafe) var owner: Leaving? = Leaving()
                unsafe owner?.timer = unsafe GuardedTimer(owner: owner!, every: .milliseconds(1), on: queue) { _ in journal.add("") }
                try journal.wait(for: count)
                queue.sync { unsafe owner = nil }
            }
        }
        #expect(try scene.told().isEmpty)
    }

    @Test func aSourceIsSuspendedAndResumed() throws {
        let journal = Journal(), queue = DispatchQueue(label: "source"), source = GuardedSource(OwnerFault.ticks(journal, on: queue))
        source.activate()
        source.activate()
        try journal.wait(for: 2)
        source.suspend()
        queue.sync {}
        let count = journal.all.count
        passTime(.milliseconds(50), why: "a source that runs ticks many times in it")
        #expect(journal.all.count == count)
        source.resume()
        try journal.wait(for: count + 2)
        source.cancel()
        source.cancel()
        #expect(source.isCancelled)
    }

    @Test func sourcesOfOtherKinds() throws {
        let journal = Journal()
        let signals = DispatchSource.makeSignalSource(signal: SIGURG, queue: .global())
        signals.setEventHandler { journal.add("signal") }
        let signalSource = GuardedSource(signals)
        signalSource.resume()
        let pipe = Pipe()
        let reads = DispatchSource.makeReadSource(fileDescriptor: pipe.fileHandleForReading.fileDescriptor, queue: .global())
        reads.setEventHandler {
            _ = pipe.fileHandleForReading.readData(ofLength: 1)
            journal.add("read")
        }
        let readSource = GuardedSource(reads)
        readSource.resume()
        try blockUntil("the signal comes") {
            kill(getpid(), SIGURG)
            return journal.all.contains("signal")
        }
        pipe.fileHandleForWriting.write(Data([1]))
        try blockUntil("the read comes") { journal.all.contains("read") }
        #expect(Set(journal.all) == ["signal", "read"])
        signalSource.cancel()
        readSource.cancel()
    }

    /// As libdispatch counts, one resume is not enough.
    @Test func unguardedASourceThatIsSuspendedTwiceStands() throws {
        let journal = Journal(), queue = DispatchQueue(label: "source"), source = GuardedSource(OwnerFault.ticks(journal, on: queue))
        source.resume()
        source.suspend()
        source.suspend()
        source.resume()
        queue.sync {}
        let count = journal.all.count
        passTime(.milliseconds(50), why: "a source that runs ticks many times in it")
        #expect(journal.all.count == count)
        source.resume()
        try journal.wait(for: count + 2)
        source.cancel()
    }

    /// Not claimed: suspensions that nest.
    @Test func guardedOneResumeEndsAllSuspensions() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let journal = Journal(), source = GuardedSource(OwnerFault.ticks(journal))
            source.resume()
            source.suspend()
            source.suspend()
            source.resume()
            try journal.wait(for: journal.all.count + 5)
            source.cancel()
        }
        #expect(try scene.told() == ["a dispatch source is suspended that does not run suspensions=1"])
    }

    @Test func threadsShareASource() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            let session = try scene.start()
            var configuration = Guards.Configuration()
            (configuration.policy, configuration.budget) = (.survive, 1_000_000)
            try session.guards.start(configuration)
            let journal = Journal()
            for _ in 0..<20 {
                let source = GuardedSource(OwnerFault.ticks(journal))
                DispatchQueue.concurrentPerform(iterations: 200) { number in
                    if number % 2 == 0 { source.resume() } else { source.suspend() }
                }
            }
        }
        #expect(try scene.report().verdict?.end == .clean)
    }

    @Test func aSpentBudgetEndsTheProgram() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGILL)) { [scene = scene as Scene] in
            let session = try scene.start()
            var configuration = Guards.Configuration()
            (configuration.policy, configuration.budget) = (.survive, 5)
            try session.guards.start(configuration)
            let source = GuardedSource(OwnerFault.ticks(Journal()))
            source.resume()
            for number in 1...20 {
                session.log(.info, "resume \(number)")
                source.resume()
            }
        }
        // A new minute may have given a new budget.
        let resumes = try scene.report().breadcrumbs?.entries.filter { $0.text.hasPrefix("resume") }.count
        #expect((6...11).contains(resumes ?? 0))
        #expect(try scene.report().crash != nil)
    }

    // MARK: Not claimed

    /// Only a timer that fires finds its owner gone.
    @Test func beforeItFiresATimerDoesNotKnow() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let timer = GuardedTimer(owner: Owner(), every: .seconds(3600), on: .global()) { _ in }
            passTime(.milliseconds(100), why: "the timer finds nothing before it fires")
            expect(!timer.isCancelled)
        }
        #expect(try scene.told().isEmpty)
    }

    /// A source that is resumed without its guard is the program's own business.
    @Test func aSourceBehindItsGuardIsNotGuarded() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGILL)) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let ticks = OwnerFault.ticks(Journal())
            let source = GuardedSource(ticks)
            source.resume()
            ticks.resume()
        }
        #expect(try scene.told().isEmpty)
    }
}
