import LaunchGuard

actor Documents {
    func open() throws {}  // The code that usually crashes at the start.
    func clearCache() throws {}
}

let documents = Documents()
// From here on a crash leaves a record.
let session = try Session.start(appID: "org.example.minimal", version: "1.0")
let launch = session.launch("main")
// After two launch crashes in a row.
launch.addRepair("clear cache", impact: 10) { try await documents.clearCache() }
// Never left out, but held while a repair runs.
launch.addTask("open documents", options: .essential) { try await documents.open() }
if let problem = await launch.begin().problem {
    print(problem)  // A task that threw, for example. The program ends, and that is no crash.
} else {
    session.log(.info, "ready")  // A breadcrumb.
    launch.finish()
}
