// The thread of the main actor's heartbeats: main-actor-probe DIR HOW. Prints its observations, and
// fails where they are wrong.
//
// - dispatch: the main thread is given to Dispatch, and threads take turns with the main queue
// - runloop: the main thread serves the main queue itself
// - unserved: no thread serves the queue; the main thread returns from here
// - blocked: as dispatch, and a job blocks the queue for a while
// - hangs-runloop, hangs-dispatch: a job keeps the main actor busy for good, and the process is
//   killed when the stacks are there
import CThread
import Dispatch
import Foundation
import LaunchGuard
import LaunchGuardReportModel
import Synchronization
import TestSupport

final class Seen: Sendable {
    private let counts = Mutex((onMain: 0, elsewhere: 0, astray: 0))
    let beat = DispatchSemaphore(value: 0)

    /// Jobs on the main thread, on the thread that has the heartbeat where the main thread has
    /// none, and on any other thread.
    var all: (onMain: Int, elsewhere: Int, astray: Int) { counts.withLock { $0 } }

    func take() -> Bool {
        counts.withLock { counts in
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            if lg_shim_is_main_thread() != 0 { counts.onMain += 1 } else if name == "main actor\n" { counts.elsewhere += 1 } else { counts.astray += 1 }
        }
        beat.signal()
        return true
    }

    func wait(for count: Int) {
        for _ in 0..<count where beat.wait(timeout: .now() + .seconds(Int(hung.components.seconds))) == .timedOut { end(3, "no heartbeat comes") }
    }

    var count: Int { counts.withLock { $0.onMain + $0.elsewhere + $0.astray } }
}

func end(_ status: Int32, _ what: String) -> Never {
    print(what)
    exit(status)
}

/// The place of the hang.
@inline(never) @MainActor func keepTheMainActorBusy() {
    while !isEnough.load(ordering: .relaxed) {}
    print("never")  // Code after the call keeps the caller on the stack.
}

nonisolated let isEnough = Atomic(false)

/// Runs when the hang and its stacks are in the run file. The request comes after the hang, so that
/// no earlier heartbeat counts.
func killWhenHanging(_ session: Session, since: UInt64) -> Never {
    expectWithin("the stacks of the hang are there") {
        guard let snapshot = try? Reader(path: session.runPath ?? "").run().snapshots?.first else { return false }
        return snapshot.isComplete && snapshot.resolvedNanoseconds == nil && snapshot.takenNanoseconds > since
    }
    kill(getpid(), SIGKILL)
    stay()
}

func expectWithin(_ what: String, _ condition: () -> Bool) {
    do { try blockUntil(what, condition) } catch { end(3, "\(error)") }
}

func hang(_ session: Session, _ how: String) -> Never {
    session.watchMainActor()
    Thread.detachNewThread {
        // Served, with the watch begun.
        expectWithin("the watch begins") { (try? Reader(path: session.runPath ?? "").run().heartbeats) != nil }
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        Task { @MainActor in keepTheMainActorBusy() }
        killWhenHanging(session, since: UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec))
    }
    if how == "hangs-runloop" { RunLoop.main.run() }
    dispatchMain()
}

alarm(180)  // bounds the life of the process, also where the queue is never served
var configuration = Session.Configuration(appID: "org.example.probe")
configuration.stateDirectory = CommandLine.arguments[1]
configuration.hangThresholds.running = .seconds(1)
let session = try Session.start(configuration)
let seen = Seen(), how = CommandLine.arguments[2]
if how.hasPrefix("hangs") { hang(session, how) }
session.watchMainActor(every: .milliseconds(5)) { seen.take() }
session.watchMainActor()  // a second call changes nothing

switch how {
case "unserved":
    passTime(.milliseconds(300), why: "where the queue is served, many heartbeats come in it")
    end(seen.all == (0, 0, 0) ? 0 : 1, "\(seen.all)")
case "blocked":
    Thread.detachNewThread {
        seen.wait(for: 5)
        let isBlocked = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
        DispatchQueue.main.async {
            isBlocked.signal()
            goOn.wait()
        }
        isBlocked.wait()
        let before = seen.count
        passTime(.milliseconds(300), why: "where the queue is not blocked, many heartbeats come in it")
        // One may have been under way.
        if seen.count > before + 1 { end(1, "it beats while the queue is blocked") }
        goOn.signal()
        seen.wait(for: 5)
        end(seen.all.onMain + seen.all.astray == 0 ? 0 : 1, "\(seen.all)")
    }
default:
    Thread.detachNewThread {
        seen.wait(for: 20)
        let wrong = seen.all.astray + (how == "runloop" ? seen.all.elsewhere : seen.all.onMain)
        end(wrong == 0 ? 0 : 1, "\(seen.all)")
    }
}
if how == "runloop" { RunLoop.main.run() }
dispatchMain()
