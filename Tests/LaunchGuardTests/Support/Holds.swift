import LaunchGuard
import Synchronization
import TestSupport

/// Keeps the hold that waits for an answer, as the model of a window does.
final class Holds: Sendable {
    private struct State: ~Copyable {
        var hold: Launch.Hold?
        var reasons: [Launch.Hold.Reason] = []
    }

    private let state = Mutex(State())

    /// The reasons of all holds so far.
    var reasons: [Launch.Hold.Reason] { state.withLock { $0.reasons } }

    func keep(_ hold: consuming Launch.Hold) {
        let reason = hold.reason
        var hold = Optional(hold)
        state.withLock { state in
            state.reasons.append(reason)
            state.hold = hold.take()
        }
    }

    func take() -> Launch.Hold? { state.withLock { $0.hold.take() } }

    /// The next one, as soon as it is there.
    func next() async throws -> Launch.Hold {
        var next: Launch.Hold?
        try await waitUntil("the launch asks") {
            next = take()
            return next != nil
        }
        return next.take()!
    }
}

/// Keeps a halted launch.
final class Halts: Sendable {
    private struct State: ~Copyable { var halt: Launch.Halt? }

    private let state = Mutex(State())

    func keep(_ halt: consuming Launch.Halt) {
        var halt = Optional(halt)
        state.withLock { $0.halt = halt.take() }
    }

    func next() async throws -> Launch.Halt {
        var next: Launch.Halt?
        try await waitUntil("the launch is halted") {
            next = state.withLock { $0.halt.take() }
            return next != nil
        }
        return next.take()!
    }
}
