// Notes about the program, and the conditions that LaunchGuard can watch.
import LaunchGuard

let session = try LaunchGuard.start(appID: "org.example.watched", hangThresholds: .init(running: .seconds(3)))
// A main actor that does not respond for 3 s counts as a hang. Other loops call heartbeat().
session.watchMainActor()
session.watchMemory(nearPercent: 90) { memory in session.log(.warning, "dropping caches at \(memory.percent) %") }

session.log(.error, "request failed", category: "network", fields: ["url": "https://example.org/notes", "token": "secret"])
session.annotate("screen", "settings")  // The last value of each key.
session.redact("token")  // Keep the value out of every export, here and in fields.

// If something kills the job after 30 s, the report shows its stack.
let sum = session.withDeadline("sum", .seconds(30)) { (1...1000).reduce(0, +) }
session.log(.info, "the sum is \(sum)")
