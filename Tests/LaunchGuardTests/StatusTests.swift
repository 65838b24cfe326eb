import Glibc
@testable import LaunchGuard
import Testing
import TestSupport

/// The status and its updates.
@Suite struct StatusTests {
    @Test func everyListenerSeesEveryChangeInOrder() async throws {
        let scene = try Scene()
        await scene.crashTwice()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let child = Child(directory)
            let launch = try child.start().launch("main")
            launch.addRepair("mend", impact: 1) { #expect(launch.status == .repairing) }
            // Subscribed now, read at the end.
            var early = launch.statusUpdates.makeAsyncIterator()
            let updates = launch.statusUpdates
            async let seen = updates.reduce(into: []) { $0.append($1) }
            while await (early.next() != .idle) {}
            try await launch.begin().get()
            launch.finish()
            var rest: [Launch.Status] = []
            while let status = await early.next() { rest.append(status) }
            #expect(rest == [.awaitingRepair, .repairing, .launching, .finished])
            #expect(await rest.hasSuffix(seen))
            #expect(await launch.statusUpdates.reduce(into: []) { $0.append($1) } == [.finished])
        }
    }

    @Test func aHealthyLaunchIsCheckedAndThenNormal() async throws {
        let scene = try Scene()
        await #expect(processExitsWith: .success) { [directory = scene.directory as String] in
            let launch = try Child(directory).start().launch("main")
            #expect(try await Child.statuses(of: launch) == [.idle, .launching, .finished])
        }
    }

    @Test func aCancelledListenerGetsNoFurtherChange() async throws {
        let log = Log()
        let simulation = try Simulation()
        let launch = simulation.session.launch("main", .init(window: .zero))
        let listener = Task {
            for await status in launch.statusUpdates { log.add("\(status)") }
            log.add("ended")
        }
        try await log.wait(for: "idle")
        listener.cancel()
        await listener.value
        try await launch.begin().get()
        #expect(log.all == ["idle", "ended"])
        #expect(launch.status == .launching)
    }

    @Test(arguments: [1, 2, 3])
    func aLateListenerBeginsWithTheStatusAtThatMoment(_ listeners: Int) async throws {
        let simulation = try Simulation(), holds = Holds()
        let launch = simulation.session.launch("main", .init(
            repairAfter: 1, window: .zero, hold: .custody, repairsAutomatically: false, onHold: { holds.keep($0) }))
        launch.addRepair("mend", impact: 1) {}
        try await launch.begin().get()
        simulation.end(.crash)
        try await launch.begin().get()
        try await withThrowingTaskGroup(of: [Launch.Status].self) { group in
            let ready = Log()
            for _ in 1...listeners {
                group.addTask {
                    var updates = launch.statusUpdates.makeAsyncIterator()
                    var seen = [await updates.next()].compactMap(\.self)
                    ready.add("ready")
                    while let status = await updates.next() { seen.append(status) }
                    return seen
                }
            }
            try await waitUntil("all listen") { ready.all.count == listeners }
            try await holds.next().repair()
            try await launch.waitUntilLaunched().get()
            launch.finish()
            for try await seen in group { #expect(seen == [.awaitingRepair, .repairing, .launching, .finished]) }
        }
    }

    @Test func aSlowListenerLosesNothing() async {
        let broadcast = StatusBroadcast()
        let stream = broadcast.subscribe()
        let changes = Array(repeating: [Launch.Status.awaitingRepair, .repairing], count: 16).flatMap(\.self)
        for status in changes { broadcast.publish(status) }
        broadcast.publish(.launching)
        broadcast.publish(.finished)
        #expect(await stream.reduce(into: []) { $0.append($1) } == [.idle] + changes + [.launching, .finished])
    }

    @Test func aListenerThatEndsDoesNotDisturbOthers() async {
        let broadcast = StatusBroadcast()
        do {
            var gone = broadcast.subscribe().makeAsyncIterator()
            _ = await gone.next()
        }
        let stream = broadcast.subscribe()
        broadcast.publish(.launching)
        broadcast.publish(.finished)
        #expect(await stream.reduce(into: []) { $0.append($1) } == [.idle, .launching, .finished])
    }
}

extension Array where Element: Equatable {
    /// Whether the other array is the end of this one. An array that starts earlier begins with the
    /// value before it.
    fileprivate func hasSuffix(_ other: Self) -> Bool {
        let other = other.count > count ? Array(other.suffix(count)) : other
        return !other.isEmpty && Array(suffix(other.count)) == other
    }
}
