// The smallest protected program in Swift.
import LaunchGuard

actor Documents {
    private(set) var names: [String] = []

    func open() throws { names.append("notes") }  // The code that usually crashes at the start.
    func clearCache() throws {}
}

let documents = Documents()
// From here on a crash leaves a record.
let session = try LaunchGuard.start(appID: "org.example.minimal", version: "1.0")

let launch = session.launch("main")
// After two launch crashes in a row.
launch.addRepair("clear cache", impact: 10) { try await documents.clearCache() }
launch.addTasks {
    // Never left out, but held while a repair runs.
    LaunchTask("open documents", .essential) { try await documents.open() }
        .onProtect { print("one moment, please") }
}
try await launch.begin()

session.log(.info, "ready, \(await documents.names.count) documents")  // A breadcrumb.
launch.finished()
