import Foundation

/// Stands for GTK, Qt or SDL: a window whose events come from a loop that the program turns. Here
/// they are lines of standard input: "yes" and "no" answer a question, "quit" closes the window.
@MainActor final class Window {
    private(set) var isOpen = true
    private var answers: [CheckedContinuation<Bool, Never>] = []

    func show(_ text: String) { print("window: \(text)") }

    /// Ask the user, and let the loop turn until the answer is there.
    func ask(_ question: String) async -> Bool {
        show(question)
        return await withCheckedContinuation { answers.append($0) }
    }

    /// Handle the event that waits, if one does: `SDL_PollEvent()`, `g_main_context_iteration()`,
    /// `QCoreApplication::processEvents()`.
    func handleEvent() {
        guard let event = events.next() else { return }
        switch event {
        case "quit": isOpen = false
        case "crash": fatalError("the user asked for a crash")
        default: if !answers.isEmpty { answers.removeFirst().resume(returning: event == "yes") }
        }
    }

    private let events = EventQueue()
}

/// Lines of standard input, which a thread of its own reads.
private final class EventQueue: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    init() {
        Thread.detachNewThread { [self] in
            while let line = readLine() { lock.withLock { lines.append(line) } }
            lock.withLock { lines.append("quit") }
        }
    }

    func next() -> String? { lock.withLock { lines.isEmpty ? nil : lines.removeFirst() } }
}
