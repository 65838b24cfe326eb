import LaunchGuard

/// The parts of the program and its launch.
actor Player {
    private let library: Library
    private let window: Window

    init(library: Library, window: Window) {
        self.library = library
        self.window = window
    }

    var songCount: Int {
        get async { await library.songs.count }
    }

    /// On the real session, and on the simulated one of the tests.
    nonisolated func prepareLaunch(on session: Session) -> Launch {
        let launch = session.launch("main", .init(
            window: .zero, finish: .mark, hold: .custody,
            onReport: { @MainActor [window] batch in window.say("crashed \(batch.streak) times") },
            onHold: { @MainActor [window] hold in window.ask(hold) }))
        // Loses the order of the songs: only if the user agrees.
        launch.addRepair("reset library", impact: 60, options: [.destructive, .consent]) { [library] in try await library.reset() }
        launch.addTask("open library", options: .essential) { [library] in
            try await library.open()
        } onProtect: { @MainActor [window] in
            window.say("one moment, please")
        }
        launch.addTask("show window") { @MainActor [window, library] in
            window.say("\(await library.songs.count) songs")
        }
        return launch
    }
}
