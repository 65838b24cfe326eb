// Notes about the program, and the conditions that LaunchGuard can watch.
import LaunchGuard

var configuration = Session.Configuration(appID: "org.example.watched")
configuration.hangThresholds.running = .seconds(3)
let session = try Session.start(configuration)
// A main actor that does not respond for 3 s counts as a hang. Other loops call sendHeartbeat().
session.watchMainActor()
try session.watchMemory(nearPercent: 90) { memory in session.log(.warning, "dropping caches at \(memory.percent) %") }

session.log(.error, "request failed", category: "network", fields: ["url": "https://example.org/notes", "token": "secret"])
session.annotate("screen", "settings")  // The last value of each key.
session.redact("token")  // Keep the value out of every export, here and in fields.

// If something kills the job after 30 s, the report shows its stack.
let sum = session.withDeadline("sum", limit: .seconds(30)) { (1...1000).reduce(0, +) }
session.log(.info, "the sum is \(sum)")
