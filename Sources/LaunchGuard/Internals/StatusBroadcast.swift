import Synchronization

/// Passes each change of a launch's status to every listener.
final class StatusBroadcast: Sendable {
    typealias Status = Launch.Status

    private struct State {
        var current = Status.normal
        var hasBegun = false
        var isFinished = false
        var nextID = 0
        var listeners: [Int: AsyncStream<Status>.Continuation] = [:]

        mutating func finish() -> [AsyncStream<Status>.Continuation] {
            isFinished = true
            defer { listeners = [:] }
            return Array(listeners.values)
        }
    }

    /// A launch begins once and has at most 16 repairs with 100 attempts of two changes each. No
    /// listener ever has this many changes waiting.
    private static let most = 4096

    private let state = Mutex(State())

    func subscribe() -> AsyncStream<Status> {
        let (stream, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(Self.most))
        let isFinished = state.withLock { state in
            continuation.yield(state.current)
            if state.isFinished { return true }
            let id = state.nextID
            state.nextID += 1
            state.listeners[id] = continuation
            continuation.onTermination = { [weak self] _ in self?.unsubscribe(id) }
            return false
        }
        if isFinished { continuation.finish() }
        return stream
    }

    /// Pass a change to all listeners. The return to normal is the last change.
    func publish(_ status: Status) {
        let ended = state.withLock { state in
            state.hasBegun = state.hasBegun || status != .normal
            guard state.hasBegun, !state.isFinished else { return [AsyncStream<Status>.Continuation]() }
            state.current = status
            for listener in state.listeners.values { listener.yield(status) }
            return status == .normal ? state.finish() : []
        }
        // Outside the lock: finishing calls unsubscribe().
        for listener in ended { listener.finish() }
    }

    /// No further change comes.
    func finish() {
        for listener in state.withLock({ $0.finish() }) { listener.finish() }
    }

    /// The launch can be begun again, in the next simulated run.
    func restart() {
        state.withLock { state in
            state.hasBegun = false
            state.isFinished = false
        }
    }

    private func unsubscribe(_ id: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: id) }
    }
}
