// Guards of the main actor in a program that has its main thread: confinement-probe DIR HOW. Prints
// what is wrong, and fails.
//
// - runloop: the main thread serves the main queue itself
// - dispatch: the main thread is given to Dispatch, and threads take turns with the main queue
// - unserved: no thread serves the queue
import Dispatch
import Foundation
import LaunchGuard
import LaunchGuardGuards
import Synchronization
import TestSupport

/// Events in order, from any thread.
final class Seen: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    func wait(for line: String) {
        do { try blockUntil(line) { all.contains(line) } } catch { fail("\(error), but \(all)") }
    }
}

func fail(_ what: String) -> Never {
    print(what)
    exit(1)
}

/// Called on the main actor: the call is made before this function returns, and is no event.
func callAtOnce(_ place: String) {
    let count = seen.all.count
    MainActor.assumeIsolatedGuarded { seen.add("called: \(place)") }
    if !seen.all.dropFirst(count).contains("called: \(place)") { fail("not called at once: \(place), \(seen.all)") }
    if number.read({ $0 }) != 1 { fail("not read: \(place)") }
}

/// Called elsewhere: the call is made later.
@inline(never) func callLater(_ place: String) {
    MainActor.assumeIsolatedGuarded { seen.add("called: \(place)") }
}

/// The events but those of a place: there are none.
func expectEvents(_ right: [String]) {
    let events = seen.all.filter { !$0.hasPrefix("called") }
    if events != right { fail("\(events)") }
}

nonisolated let seen = Seen(), number = MainConfined(1), how = CommandLine.arguments[2]
alarm(180)
var configuration = Session.Configuration(appID: "org.example.probe")
configuration.stateDirectory = CommandLine.arguments[1]
let session = try Session.start(configuration)
var guards = Guards.Configuration()
guards.policy = .survive
guards.onEvent = { event in seen.add("\(event.text)\(event.fields.map { ", \($0.key): \($0.value)" }.joined())") }
try session.guards.start(guards)

callAtOnce("the main thread, which no task or queue knows")
switch how {
case "unserved":
    Thread.detachNewThread { callLater("early") }
    seen.wait(for: "a function of the main actor is called off the main actor")
    seen.wait(for: "the main actor has served nothing for 2 s, and calls that were sent to it wait")
    Thread.detachNewThread { MainActor.assumeIsolatedGuarded { seen.add("late") } }
    seen.wait(for: "a function of the main actor is called off the main actor, main actor: has served nothing since an earlier event")
    if seen.all.contains("called: early") || seen.all.contains("late") { fail("called: \(seen.all)") }
    exit(0)
default:
    Thread.detachNewThread {
        DispatchQueue.main.async {
            callAtOnce("a block of the main queue")
            Task { @MainActor in
                callAtOnce("a task")
                // On the main thread itself, or with its queue held from another thread.
                if how == "runloop" { DispatchQueue.global().sync { callAtOnce("a queue that the main thread waits for") } }
                seen.add("called: all at once")
            }
        }
        seen.wait(for: "called: all at once")
        expectEvents([])
        callLater("a thread")
        seen.wait(for: "called: a thread")
        seen.wait(for: "a function of the main actor is called off the main actor")
        // Not claimed: this is the main actor, which waits.
        if how == "dispatch" {
            DispatchQueue.main.async { DispatchQueue.global().sync { callLater("a queue that the main actor waits for") } }
            seen.wait(for: "called: a queue that the main actor waits for")
        }
        exit(0)
    }
}
if how == "runloop" { RunLoop.main.run() }
dispatchMain()
