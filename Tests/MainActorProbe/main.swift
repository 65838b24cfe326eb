// Where the main actor's heartbeats come from: main-actor-probe DIR HOW. Prints what it saw, and fails where that is wrong.
//
// dispatch   the main thread is given to Dispatch: threads take turns with the main queue
// runloop    the main thread serves the main queue itself
// unserved   nobody serves it; the main thread returns from here
// blocked    as dispatch, and a job blocks the queue for a while
// hangs-runloop, hangs-dispatch   a job keeps the main actor busy for good, and the process is killed when the stacks are there
import CThread
import Dispatch
import Foundation
import LaunchGuard
import LaunchGuardReports
import Synchronization

final class Seen: Sendable {
    private let counts = Mutex((onMain: 0, elsewhere: 0, astray: 0))
    let beat = DispatchSemaphore(value: 0)

    /// On the main thread, on the one that has the heart where the main thread has not, and on any other.
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

/// Where it hangs.
@inline(never) @MainActor func keepTheMainActorBusy() {
    while !isEnough.load(ordering: .relaxed) {}
    print("never")  // Its caller stays on the stack.
}

nonisolated let isEnough = Atomic(false)

/// When the hang and its stacks are in the run file: after they are asked for, so that nothing from before counts.
func killWhenHanging(_ session: LaunchGuard.Session, since: UInt64) -> Never {
    while true {
        let snapshot = try? Reader(path: session.runPath ?? "").run().snapshots?.first
        if let snapshot, snapshot.isComplete, snapshot.resolvedNanoseconds == nil, snapshot.takenNanoseconds > since { kill(getpid(), SIGKILL) }
        usleep(10_000)
    }
}

func hang(_ session: LaunchGuard.Session, _ how: String) -> Never {
    session.watchMainActor()
    Thread.detachNewThread {
        // Served and opted in.
        while (try? Reader(path: session.runPath ?? "").run().hearts) == nil { usleep(10_000) }
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        Task { @MainActor in keepTheMainActorBusy() }
        killWhenHanging(session, since: UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec))
    }
    if how == "hangs-runloop" { RunLoop.main.run() }
    dispatchMain()
}

alarm(60)  // nothing is left behind, also where the queue is never served
let session = try LaunchGuard.start(
    appID: "org.example.probe", stateDirectory: CommandLine.arguments[1], hangThresholds: .init(running: .seconds(1)))
let seen = Seen(), how = CommandLine.arguments[2]
if how.hasPrefix("hangs") { hang(session, how) }
session.watchMainActor(every: .milliseconds(5)) { seen.take() }
session.watchMainActor()  // changes nothing

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
        while seen.beat.wait(timeout: .now() + 0.1) == .success {}  // the one that was under way
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
