import Synchronization

/// Passes each change of a launch's status to every listener.
final class StatusBroadcast: Sendable {
    typealias Status = Launch.Status

    private struct State {
        var current = Status.idle
        var isFinished = false
        /// The session was stopped: no further begin has updates.
        var isClosed = false
        var nextID = 0
        var listeners: [Int: AsyncStream<Status>.Continuation] = [:]

        /// Yield a change, and end the updates with it.
        mutating func pass(_ status: Status, isLast: Bool) -> [AsyncStream<Status>.Continuation] {
            guard !isFinished else { return [] }
            if status != current { for listener in listeners.values { listener.yield(status) } }
            current = status
            guard isLast else { return [] }
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

    /// Pass a change to all listeners. The last change is that to finished or, where a simulated
    /// run ends, back to idle.
    func publish(_ status: Status) {
        let ended = state.withLock { state in
            state.pass(status, isLast: status == .finished || (status == .idle && state.current != .idle))
        }
        // Outside the lock: finishing calls unsubscribe().
        for listener in ended { listener.finish() }
    }

    /// No further change comes before the next begin.
    ///
    /// - Parameters:
    ///   - last: the status now.
    ///   - isClosed: nor after it.
    func finish(_ last: Status, isClosed: Bool = false) {
        let ended = state.withLock { state in
            state.isClosed = state.isClosed || isClosed
            return state.pass(last, isLast: true)
        }
        for listener in ended { listener.finish() }
    }

    /// The launch can be begun anew, in the next simulated run for example.
    func restart() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isFinished = false
            state.current = .idle
        }
    }

    private func unsubscribe(_ id: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: id) }
    }
}
