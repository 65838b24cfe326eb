import ArgumentParser
import LaunchGuard

/// The policy of the simulated launch.
struct PolicyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Launch crashes in a row from which the crashes are reported.", valueName: "count"))
    var reportAfter = 1

    @Option(help: ArgumentHelp("Launch crashes in a row from which repairs are tried.", valueName: "count"))
    var repairAfter = 2

    @Option(
        help: ArgumentHelp(
            "Unexplained early deaths from which repairs are tried; 0: never. Default: twice repair-after.", valueName: "count"))
    var unknownAfter: Int?

    @Option(
        help: ArgumentHelp(
            """
            A repair: its name, its impact from 0 to 100 (default 0), and any of destructive, consent, restart, attempts=COUNT, \
            separated by commas. May be repeated. Default: "repair A:10" and "repair B:50".
            """, valueName: "name:impact:flags"),
        transform: SimulatedRepair.init(_:))
    var repair: [SimulatedRepair] = []

    @Flag(help: "The program has no repairs.")
    var noRepairs = false

    @Option(
        help: ArgumentHelp(
            """
            A launch task: its key, and any of essential, suspect, unsafe, left-out, by-key, separated by commas. May be repeated. \
            Default: "open database" and "restore windows:unsafe".
            """, valueName: "key:flags"),
        transform: SimulatedTask.init(_:))
    var task: [SimulatedTask] = []

    @Flag(help: "Repairs wait for the user's consent: the event repair.")
    var byHand = false

    @Flag(help: "The first repair takes the first turn, before a suspect task is left out.")
    var repairsFirst = false

    @Flag(help: "A supervisor starts the program: a halted launch waits for the event try-safe.")
    var supervised = false

    @Option(help: ArgumentHelp("Finished launches in safe mode before the normal launch is tried again.", valueName: "count"))
    var safeRetryRuns = 2

    @Option(help: ArgumentHelp("Crashes in a row in safe mode from which the launch is halted; 0: never.", valueName: "count"))
    var safeCrashLimit = 2

    @Option(
        help: ArgumentHelp(
            "Finished launches after a repair until the ladder starts at its lowest rung again; 0: never.", valueName: "count"))
    var deescalateRuns = 3

    @Flag(help: "Decide, count and report, but hold and repair nothing.")
    var shadow = false

    @Option(help: ArgumentHelp("Name of the launch.", valueName: "name"))
    var context = "main"

    /// In the order of the ladder.
    var repairs: [SimulatedRepair] {
        let given = noRepairs ? [] : repair.isEmpty ? SimulatedRepair.usual : repair
        return given.enumerated().sorted { ($0.element.impact, $0.offset) < ($1.element.impact, $1.offset) }.map(\.element)
    }

    private var unknownThreshold: Launch.UnknownThreshold {
        switch unknownAfter {
        case nil: .twiceRepairAfter
        case 0?: .never
        case let count?: .after(count)
        }
    }

    var tasks: [SimulatedTask] { task.isEmpty ? SimulatedTask.usual : task }

    func validate() throws {
        guard !noRepairs || repair.isEmpty else { throw ValidationError("--repair and --no-repairs exclude each other.") }
        for (option, value, least) in [
            ("--report-after", reportAfter, 1), ("--repair-after", repairAfter, 1), ("--unknown-after", unknownAfter ?? 0, 0),
            ("--safe-retry-runs", safeRetryRuns, 1), ("--safe-crash-limit", safeCrashLimit, 0), ("--deescalate-runs", deescalateRuns, 0),
        ] where value < least {
            throw ValidationError("\(option) is \(value); it must be at least \(least).")
        }
    }

    /// The launch with its repairs and tasks, whose closures are those of the stage.
    func prepare(_ simulation: Simulation, _ stage: SimulationStage) throws -> Launch {
        let launch = simulation.session.launch(
            context,
            .init(
                reportAfter: reportAfter, repairAfter: repairAfter, unknownAfter: unknownThreshold, window: .zero, finish: .mark,
                reportWait: .seconds(5), repairsAutomatically: !byHand, leavesOutSuspects: !repairsFirst,
                safeMode: .init(retryRuns: safeRetryRuns, crashLimit: safeCrashLimit == 0 ? nil : safeCrashLimit),
                deescalation: .init(runs: deescalateRuns == 0 ? nil : deescalateRuns), isSupervised: supervised, isShadow: shadow,
                onDecide: { stage.decide($0) }, onReport: { await stage.report(streak: $0.streak) }, onHold: { stage.keep($0) },
                onGiveUp: { await stage.giveUp($0) },
                onStatus: { stage.statusChanged($0) }))
        for repair in repairs {
            launch.addRepair(
                repair.name, impact: repair.impact, timeout: SimulatedRepair.timeout, attempts: repair.attempts, options: repair.options
            ) { try await stage.repair(repair.name) }
        }
        for task in tasks {
            launch.addTask(task.key, options: task.options) { await stage.run(task.key) } onProtect: { await stage.protect(task.key) }
            if task.isLeftOut { launch.leaveOut(task.key) }
        }
        if let problem = launch.problem { throw PolicyError(description: problem.message) }
        stage.watch(launch, tasks: tasks)
        return launch
    }
}
