import Synchronization

/// Passes the reports that were delivered to every listener, also to one that comes later.
final class DeliveryBroadcast: Sendable {
    private struct State {
        var told: [Delivery.Entry] = []
        var isFinished = false
        var nextID = 0
        var listeners: [Int: AsyncStream<Delivery.Entry>.Continuation] = [:]
    }

    /// ``Delivery/problem``.
    let problem = Mutex<LaunchGuardError?>(nil)

    private let state = Mutex(State())

    func subscribe() -> AsyncStream<Delivery.Entry> {
        let (stream, continuation) = AsyncStream.makeStream(of: Delivery.Entry.self)
        let isFinished = state.withLock { state in
            for entry in state.told { continuation.yield(entry) }
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

    func publish(_ entry: Delivery.Entry) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.told.append(entry)
            for listener in state.listeners.values { listener.yield(entry) }
        }
    }

    /// No further report is published.
    func finish() {
        let ended = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        // Outside the lock: finishing calls unsubscribe().
        for listener in ended { listener.finish() }
    }

    private func unsubscribe(_ id: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: id) }
    }
}
