// A program that crashes at its start while its cache is damaged, and mends that by itself.
import Foundation
import LaunchGuard

/// A cache that a file damages: `touch cache.damaged`.
struct Cache {
    let damage = "cache.damaged"

    func load() {
        if FileManager.default.fileExists(atPath: damage) { fatalError("the cache is damaged") }
    }

    func remove() throws { try FileManager.default.removeItem(atPath: damage) }
}

let cache = Cache()
let session = try Session.start(appID: "org.example.hour", version: "1.0")
// A full disk, for example. The program runs all the same.
if let problem = session.problem { print(problem) }

let launch = session.launch("main", .init(onReport: { batch in
    print("launch crashes in a row: \(batch.streak)")
    for report in batch.reports { print("run \(report.ordinal): \(report.end)") }
}))
launch.addRepair("remove the cache", impact: 10) {
    print("removing the cache")
    try cache.remove()
}
launch.addTask("load the cache", options: .essential) { cache.load() }
launch.addTask("open the window") { print("the window is open") }
if let problem = await launch.begin().problem {
    print(problem)
    exit(1)  // No crash: it counts for nothing.
}
launch.finish()

session.annotate("screen", "main")
for second in 1... {
    session.log(.info, "second \(second)")
    try await Task.sleep(for: .seconds(1))
}
