import Synchronization

/// Passes events to the closure of a start and to every listener. The core knows a start by its
/// number alone, so that no thread of the core ever holds an object of Swift.
package enum GuardTeller {
    typealias Closure = @Sendable (GuardEvent) -> Void

    private struct Listener {
        let continuation: AsyncStream<GuardEvent>.Continuation
        var dropped = 0
    }

    private struct State {
        var nextID = 1
        var closures: [Int: Closure] = [:]
        var listeners: [Int: Listener] = [:]

        mutating func makeID() -> Int {
            defer { nextID += 1 }
            return nextID
        }
    }

    private static let roomPerListener = 256
    private static let state = Mutex(State())

    /// The number of a start that is tried now.
    static func add(_ closure: Closure?) -> Int {
        state.withLock { state in
            let start = state.makeID()
            state.closures[start] = closure
            return start
        }
    }

    /// The start failed.
    static func remove(_ start: Int) {
        _ = state.withLock { $0.closures.removeValue(forKey: start) }
    }

    /// The start succeeded. Events of the start before it may still be on their way.
    static func keep(_ start: Int) {
        state.withLock { state in
            let last = state.closures.keys.filter { $0 < start }.max() ?? start
            state.closures = state.closures.filter { $0.key >= last }
        }
    }

    package static func tell(_ event: GuardEvent, of start: Int) {
        let closure = state.withLock { state in
            for id in state.listeners.keys { yield(event, to: &state.listeners[id]!) }
            return state.closures[start]
        }
        closure?(event)
    }

    private static func yield(_ event: GuardEvent, to listener: inout Listener) {
        var event = event
        event.dropped = listener.dropped
        if case .dropped = listener.continuation.yield(event) { listener.dropped += 1 } else { listener.dropped = 0 }
    }

    static func subscribe() -> AsyncStream<GuardEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: GuardEvent.self, bufferingPolicy: .bufferingOldest(roomPerListener))
        let id = state.withLock { state in
            let id = state.makeID()
            state.listeners[id] = Listener(continuation: continuation)
            return id
        }
        continuation.onTermination = { _ in unsubscribe(id) }
        return stream
    }

    /// The guards were stopped: every iteration ends after the events that it has.
    static func finish() {
        // Outside of the lock: each end is an unsubscription.
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.continuation.finish() }
    }

    private static func unsubscribe(_ id: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: id) }
    }
}
