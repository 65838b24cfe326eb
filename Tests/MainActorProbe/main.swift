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
import LaunchGuardReports
import Synchronization

final class Seen: Sendable {
    private let counts = Mutex((onMain: 0, elsewhere: 0, astray: 0))
    let beat = DispatchSemaphore(value: 0)

    /// Jobs on the main thread, on the thread that has the heart where the main thread has none,
    /// and on any other thread.
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
        for _ in 0..<count where beat.wait(timeout: .now() + 20) == .timedOut { end(3, "no heartbeat comes") }
    }
}

func end(_ status: Int32, _ what: String) -> Never {
    print(what)
    exit(status)
}

/// The place of the hang.
@inline(never) @MainActor func keepTheMainActorBusy() {
    while !isEnough.load(ordering: .relaxed) {}
    print("never")  // Code behind the call keeps the caller on the stack.
}

nonisolated let isEnough = Atomic(false)

/// Runs when the hang and its stacks are in the run file. The request comes after the hang, so that
/// no earlier heartbeat counts.
func killWhenHanging(_ session: Session, since: UInt64) -> Never {
    while true {
        let snapshot = try? Reader(path: session.runPath ?? "").run().snapshots?.first
        if let snapshot, snapshot.isComplete, snapshot.resolvedNanoseconds == nil, snapshot.takenNanoseconds > since { kill(getpid(), SIGKILL) }
        usleep(10_000)
    }
}

func hang(_ session: Session, _ how: String) -> Never {
    session.watchMainActor()
    Thread.detachNewThread {
        // Served, with the watch begun.
        while (try? Reader(path: session.runPath ?? "").run().hearts) == nil { usleep(10_000) }
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        Task { @MainActor in keepTheMainActorBusy() }
        killWhenHanging(session, since: UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec))
    }
    if how == "hangs-runloop" { RunLoop.main.run() }
    dispatchMain()
}

alarm(60)  // bounds the life of the process, also where the queue is never served
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
    usleep(300_000)
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
        // skip the heartbeat that was under way
        while seen.beat.wait(timeout: .now() + 0.1) == .success {}
        let before = seen.all
        usleep(300_000)
        if seen.all != before { end(1, "it beats while the queue is blocked") }
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
