// Where the main actor's heartbeats come from: main-actor-probe DIR HOW. Prints what it saw, and fails where that is wrong.
//
// dispatch   the main thread is given to Dispatch: threads take turns with the main queue
// runloop    the main thread serves the main queue itself
// unserved   nobody serves it; the main thread returns from here
// blocked    as dispatch, and a job blocks the queue for a while
import CThread
import Dispatch
import Foundation
import LaunchGuard
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

alarm(60)  // nothing is left behind, also where the queue is never served
let session = try LaunchGuard.start(appID: "org.example.probe", stateDirectory: CommandLine.arguments[1])
let seen = Seen(), how = CommandLine.arguments[2]
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
