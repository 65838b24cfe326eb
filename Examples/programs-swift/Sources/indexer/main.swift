import Dispatch
import Foundation
import LaunchGuard

// indexer STATE FOLDER: counts the words of the files in a folder. It keeps the counts in the file
// "index" of the folder. Ctrl-C ends it, also while a repair runs.
guard CommandLine.arguments.count == 3 else {
    print("usage: indexer STATE FOLDER")
    exit(64)
}
let session = try Session.start(appID: "org.example.indexer", version: "1.0", stateDirectory: CommandLine.arguments[1])
let index = Index(folder: CommandLine.arguments[2])

// Cancelling the caller of begin() reaches the task and the repair that run.
let launch = session.launch("index", .init(window: .zero, finish: .mark, cancellation: .forwarded))
launch.addRepair("count again", impact: 10, timeout: .seconds(2), attempts: 1) { try await index.rebuild() }
launch.addRepair("start with nothing", impact: 80) { try await index.clear() }
launch.addTask("read index", options: .essential) { try await index.load() }

let work = Task {
    switch await launch.begin() {
    case .launched: launch.finish()
    case .failed(_, let error): throw error
    case .cancelled:
        print("cancelled")
        session.announceTermination()
        exit(130)
    case let other:
        print("indexer: \(other.problem!)")
        exit(1)
    }
    // A supervisor kills us after a minute: the report then shows where we were.
    return try await session.withDeadline("count", limit: .seconds(60)) { try await index.update() }
}
signal(SIGINT, SIG_IGN)  // The handler below has it.
let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupt.setEventHandler { work.cancel() }
interrupt.resume()

do {
    print("\(try await work.value) words")
} catch is CancellationError {
    print("cancelled while counting")
    session.announceTermination()
    exit(130)
} catch {
    print("indexer: \(error)")  // What the program threw, and no crash.
    exit(1)
}
