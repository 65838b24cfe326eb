import LaunchGuard
import Testing

/// The object that the launch opens and mends. The program has a real one, the test one that takes
/// notes.
actor Player {
    private(set) var notes: [String] = []
    private let hasSpace: Bool

    init(hasSpace: Bool = true) { self.hasSpace = hasSpace }

    func note(_ text: String) { notes.append(text) }

    func clearCache() throws {
        notes.append("clear cache")
        if !hasSpace { throw NoSpace() }
    }

    struct NoSpace: Error {}
}

/// The program's own function: `main.swift` calls it with the session of the process.
func prepareLaunch(_ session: Session, _ player: Player) -> Launch {
    let launch = session.launch("main", .init(reportAfter: 1, repairAfter: 2, window: .zero, onReport: { batch in
        await player.note("report \(batch.streak)")
    }))
    launch.addRepair("clear cache", impact: 10, attempts: 1) { try await player.clearCache() }
    launch.addRepair("restore library", impact: 60, attempts: 1) { await player.note("restore library") }
    launch.addTask("open library", options: .essential) { await player.note("open library") }
    launch.addTask("load plugins", options: .unsafe) { await player.note("load plugins") }
    return launch
}

@Suite(.timeLimit(.minutes(10))) struct OwnLaunchTests {
    @Test func twoCrashesLeadToTheFirstRepair() async throws {
        let player = Player(), simulation = try Simulation()
        let launch = prepareLaunch(simulation.session, player)
        #expect(launch.problem == nil)  // No name is taken, and no number out of range.

        #expect(await launch.begin().problem == nil)
        simulation.end(.crash)
        #expect(await launch.begin().problem == nil)
        #expect(launch.streak == 1)
        simulation.end(.crash)
        #expect(await launch.begin().problem == nil)
        #expect(await player.notes.suffix(4) == ["report 2", "clear cache", "open library", "load plugins"])
        #expect(launch.mode == .probation)

        launch.finish()
        simulation.end(.clean)
        #expect(await launch.begin().problem == nil)
        #expect(launch.mode == .normal && launch.streak == 0)
        simulation.close()
    }

    @Test func safeModeComesWhenTheRepairsAreUsedUp() async throws {
        let player = Player(hasSpace: false), simulation = try Simulation()
        let launch = prepareLaunch(simulation.session, player)
        for _ in 1...2 {
            #expect(await launch.begin().problem == nil)
            simulation.end(.crash)
        }
        // The first repair throws, so the second one runs in the same launch.
        #expect(await launch.begin().problem == nil)
        #expect(await player.notes.suffix(4) == ["clear cache", "restore library", "open library", "load plugins"])
        simulation.end(.crash)  // On probation one crash is enough.

        #expect(await launch.begin().problem == nil)
        #expect(launch.mode == .safe)
        #expect(launch.state(ofTask: "load plugins") == .leftOut)
        launch.finish()
        simulation.end(.clean)
        #expect(await launch.begin().problem == nil)
        #expect(launch.mode == .safe)
        launch.finish()
        simulation.end(.clean)
        // Two good launches in safe mode lead to a trial of the normal launch.
        #expect(await launch.begin().problem == nil)
        #expect(launch.mode == .trial)
        launch.finish()
        #expect(launch.info?.streak == 0)
        simulation.close()
    }
}
