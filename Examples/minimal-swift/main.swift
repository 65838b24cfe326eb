// The smallest protected program in Swift.
import LaunchGuard

actor Documents {
    private(set) var names: [String] = []

    func open() throws { names.append("notes") }  // What usually crashes at the start goes here.
    func clearCache() throws {}
}

let documents = Documents()
let session = try LaunchGuard.start(appID: "org.example.minimal", version: "1.0")  // From here on a crash leaves a record.

let launch = session.launch("main")
launch.addRepair("clear cache", impact: 10) { try await documents.clearCache() }  // After two launch crashes in a row.
launch.addTasks {
    LaunchTask("open documents", .essential) { try await documents.open() }  // Never left out, but held while a repair runs.
        .onProtect { print("one moment, please") }
}
try await launch.begin()

session.log(.info, "ready, \(await documents.names.count) documents")  // A breadcrumb.
launch.finished()
