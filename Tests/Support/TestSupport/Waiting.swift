import Glibc

/// Tests wait for a condition and never for a time. A wait that takes longer than this hangs, also
/// on a busy machine: all tests of a module run at once, and share its processors.
public let hung: Duration = .seconds(300)

/// The condition that did not come true in that time.
public struct Hung: Error, CustomStringConvertible {
    public let description: String

    init(_ what: String) { description = "not within \(hung): \(what)" }
}

/// Wait until the condition holds; it blocks the thread.
public func blockUntil(_ what: String, _ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + hung
    while try !condition() {
        if ContinuousClock.now > end { throw Hung(what) }
        usleep(2000)
    }
}

/// Wait until the condition holds, also in a task that is cancelled.
public func waitUntil(_ what: String, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + hung
    while try await !condition() {
        if ContinuousClock.now > end { throw Hung(what) }
        do { try await Task.sleep(for: .milliseconds(2)) } catch { await Task.yield() }
    }
}

/// Only where the time itself is what the test is about; `why` is the reason. It blocks the thread.
public func passTime(_ time: Duration, why: String) {
    precondition(!why.isEmpty)
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end { usleep(1000) }
}

/// Suspend the task until the clock resumes it.
public func resumeByClock() async throws {
    try await Task.sleep(for: .milliseconds(5))
}

/// Until somebody ends the process.
public func stay() -> Never {
    while true { pause() }
}

/// Until somebody cancels the task.
public func stayUntilCancelled() async throws {
    while true { try await Task.sleep(for: .seconds(3600)) }
}
