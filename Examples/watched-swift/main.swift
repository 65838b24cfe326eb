// What a program may tell of itself, and what can be watched.
import LaunchGuard

let session = try LaunchGuard.start(appID: "org.example.watched", hangThresholds: .init(running: .seconds(3)))
session.watchMainActor()  // Where the main actor is not served for 3 s the program hangs; other loops call heartbeat().
session.watchMemory(nearPercent: 90) { memory in session.log(.warning, "dropping caches at \(memory.percent) %") }

session.log(.error, "request failed", category: "network", fields: ["url": "https://example.org/notes", "token": "secret"])
session.annotate("screen", "settings")  // The last value of each key.
session.redact("token")  // Leaves in no export, here and in fields.

let sum = session.withDeadline("sum", .seconds(30)) { (1...1000).reduce(0, +) }  // Who kills for more than 30 s finds out where it was.
session.log(.info, "the sum is \(sum)")
