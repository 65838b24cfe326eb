// A desktop program whose main thread turns the loop of a toolkit: watched, and repaired only with
// the consent of its user.
import Foundation
import LaunchGuard

var configuration = Session.Configuration(appID: "org.example.desktop", version: "1.0")
configuration.hangThresholds.running = .seconds(3)
let session = try Session.start(configuration)
let window = Window()

// The user's consent. The loop below turns while the question waits.
let launch = session.launch("main", .init(hold: .custody, repairsAutomatically: false, onHold: { @MainActor hold in
    if await window.ask("rebuild the index?") { hold.repair() } else { hold.skip() }
}))
launch.addRepair("rebuild the index", impact: 30) { @MainActor in
    window.show("rebuilding the index")
    try FileManager.default.removeItem(atPath: "index.damaged")
}
launch.addTask("open documents", options: .essential) { @MainActor in
    if FileManager.default.fileExists(atPath: "index.damaged") { fatalError("the index is damaged") }
    window.show("your documents")
} onProtect: { @MainActor in
    window.show("something went wrong at the last start")
}

Task { @MainActor in
    var outcome = await launch.begin()
    if case .launched = outcome { outcome = await launch.waitUntilLaunched() }
    if let problem = outcome.problem { window.show("\(problem)") } else { launch.finish() }
}

// The loop. The jobs of the main actor are in the main queue of Dispatch, which RunLoop serves.
while window.isOpen {
    session.sendHeartbeat()
    window.handleEvent()
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))
}
