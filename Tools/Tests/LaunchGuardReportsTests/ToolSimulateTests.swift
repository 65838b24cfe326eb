import Foundation
import LaunchGuardReportModel
import Testing

/// `launchguard simulate`, as a user runs it.
@Suite(.timeLimit(.minutes(10))) struct ToolSimulateTests {
    @Test func theTourShowsEveryStateAndEveryCallback() throws {
        let tour = try Simulated([])
        #expect(Set(tour.steps.map(\.after.status)).union(tour.statuses) == ["normal", "checking", "needs-repair", "repairing"])
        #expect(Set(tour.steps.map(\.after.mode)) == ["normal", "probation", "safe", "trial"])
        let callbacks = tour.steps.flatMap(\.callbacks)
        #expect(Set(callbacks.map(\.kind)) == ["status", "report", "repair", "built-in", "protect", "task", "give-up"])
        #expect(
            Set(callbacks.filter { $0.kind == "repair" }.compactMap(\.outcome)) == ["begins", "ok", "failed", "no answer in time"])
        #expect(Set(callbacks.filter { $0.kind == "task" }.compactMap(\.outcome)) == ["begins", "run", "left out"])
        #expect(callbacks.contains { $0.isHalted == true })
        #expect(tour.steps.allSatisfy { $0.number == 0 || $0.remark?.hasSuffix(".") == true })
        let last = try #require(tour.steps.last)
        #expect(last.after.status == "normal" && last.after.mode == "normal" && last.after.streak == 0)
        #expect(tour.context.launches == 11 && tour.context.crashes == 6 && tour.context.repairs == 5)

        let text = try Tool.run(["simulate"])
        #expect(text.status == 0 && text.errors.isEmpty)
        #expect(text.output.split(separator: "\n").allSatisfy { $0.count <= 100 }, "no line is longer than 100 columns")
        #expect(try Tool.run(["simulate"]).output == text.output, "the output is the same every time")
    }

    @Test func aLaunchIsRepairedAfterTwoCrashes() throws {
        let text = try Tool.run(["simulate", "crash", "crash", "ok", "finish"])
        #expect(text.status == 0 && text.errors.isEmpty)
        #expect(
            text.output == """
                simulation of the launch main
                  report after 1, repair after 2, after 4 unexplained deaths
                  repairs: repair A (impact 10), repair B (impact 50)
                  tasks: open database, restore windows (unsafe)

                  #  event                     status                    mode                streak  rung  tries
                  0  start                     normal → checking         normal              0       0     0/1
                       · status: checking
                       · task open database: run
                       · task restore windows: run
                  1  crash                     checking                  normal              1       0     0/1
                       · status: checking
                       · on_report: streak 1
                       · task open database: run
                       · task restore windows: run
                  2  crash                     checking → repairing      normal              2       1     1/2
                       · status: needs-repair
                       · on_report: streak 2
                       · protect: open database
                       · protect: restore windows
                       · status: repairing
                       · repair "repair A", attempt 1: begins
                  3  ok                        repairing → checking      normal → probation  0       1     0/2
                       · repair "repair A", attempt 1: ok
                       · status: checking
                       · task open database: run
                       · task restore windows: run
                  4  finish                    checking → normal         probation → normal  0       2     0/2
                       · status: normal

                context main  normal
                  mode      normal
                  streak    streak 0 (report after 1, repair after 2), reported 0
                            unknown 0 (repair after 4)
                  ladder    the most disruptive repair on top; ▶ the next rung, ● attempts used, ○ left
                        ▶   ╞═ 2  repair B                    impact 50   ○○      never tried
                            ╞═ 1  repair A                    impact 10   passed
                            │     last series 0 s after the start
                            ╞═ 0  leave out the suspect task  impact 0    passed  built in, never tried
                  totals    3 launches, 2 launch crashes, 1 repair since the ledger was made

                """)
    }

    /// Options, events, and the expected last step: event, status, mode, streak, rung, attempts,
    /// then its callbacks.
    @Test func aHaltedLaunchHasNoNextRung() throws {
        let text = try Tool.run(["simulate", "--supervised", "--safe-crash-limit", "1", "crash*2", "fail*4", "crash"])
        #expect(text.output.contains(/7  crash +checking → needs-repair +safe → halted +3 +– *\n/))
        #expect(text.output.contains("  mode      halted: 1 crash in safe mode in a row; "))
        #expect(text.output.contains("the most disruptive repair on top; none is tried in safe mode\n"))
        #expect(text.output.contains("            ╞═ 2  repair B                    impact 50\n"))
        #expect(!text.output.contains("▶"))
    }

    private static let scenarios: [(options: [String], events: String, last: [String])] = [
        ([], "hang", ["hang checking normal 1 0 0", "status: checking", "on_report: streak 1", "task open database: run", "task restore windows: run"]),
        ([], "crash*2 timeout timeout", [
            "timeout repairing normal 2 2 1", #"repair "repair A", attempt 2: no answer in time"#, "status: needs-repair", "status: repairing",
            #"repair "repair B", attempt 1: begins"#,
        ]),
        ([], "crash*2 fail wait:29s", ["wait:29s repairing normal 2 1 2"]),
        ([], "crash*2 fail wait:20s wait:10s", [
            "wait:10s repairing normal 2 2 1", #"repair "repair A", attempt 2: no answer in time"#, "status: needs-repair", "status: repairing",
            #"repair "repair B", attempt 1: begins"#,
        ]),
        ([], "crash wait:1h wait:6h", ["wait:6h checking normal 1 0 0", "status: checking", "on_report: streak 1", "task open database: run", "task restore windows: run"]),
        ([], "crash*2 terminated", [
            "terminated repairing normal 2 1 1", "status: needs-repair", "protect: open database", "protect: restore windows", "status: repairing",
            #"repair "repair A", attempt 1: begins"#,
        ]),
        ([], "crash*2 crash-in-repair*4", ["crash-in-repair checking safe 2 0 0", "status: checking", "task open database: run", "task restore windows: left out"]),
        ([], "crash*2 upgrade", ["upgrade checking normal 0 0 0", "status: checking", "task open database: run", "task restore windows: run"]),
        // No time forgets a streak; three clean ends in a row do.
        ([], "crash wait:100d reboot wait:100d clean*2 crash*1", [
            "crash repairing normal 2 1 1", "status: needs-repair", "on_report: streak 2", "protect: open database", "protect: restore windows", "status: repairing",
            #"repair "repair A", attempt 1: begins"#,
        ]),
        ([], "crash clean*3 crash", ["crash checking normal 1 0 0", "status: checking", "on_report: streak 1", "task open database: run", "task restore windows: run"]),
        // A group; crashes soon after the launch; later ones.
        ([], "(finish,crash)*2", [
            "crash repairing normal 0 1 1", "status: needs-repair", "on_report: streak 0", "protect: open database", "protect: restore windows", "status: repairing",
            #"repair "repair A", attempt 1: begins"#,
        ]),
        ([], "(finish,wait:1m,crash)*4", ["crash checking normal 0 0 0", "status: checking", "on_report: streak 0", "task open database: run", "task restore windows: run"]),
        ([], "finish clean crash-before-begin*2", [
            "crash-before-begin repairing normal 2 1 1", "status: needs-repair", "on_report: streak 2", "protect: open database", "protect: restore windows",
            "status: repairing", #"repair "repair A", attempt 1: begins"#,
        ]),
        (["--task", "a", "--task", "b"], "terminated-in:b*4", [
            "terminated-in:b checking probation 0 0 0", "status: needs-repair", "on_report: streak 2", "protect: a", "protect: b", "status: repairing",
            "rung 0, built in: the suspect task is left out", "status: checking", "task a: run", "task b: left out",
        ]),
        (["--no-repairs"], "crash*4 crash-in-give-up*2", ["crash-in-give-up checking safe 6 0 0", "status: needs-repair, halted", "on_report: streak 6", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--by-hand"], "crash*2 crash-in-protect*2", ["crash-in-protect checking safe 4 0 0", "status: checking", "on_report: streak 4", "task open database: run", "task restore windows: left out"]),
        ([], "crash-in:open_database crash-in-report crash-in-report", [
            "crash-in-report repairing normal 3 1 1", "status: needs-repair", "protect: open database", "protect: restore windows", "status: repairing",
            #"repair "repair A", attempt 1: begins"#,
        ]),
        ([], "unknown*4", [
            "unknown repairing normal 0 1 1", "status: needs-repair", "on_report: streak 0", "protect: open database", "protect: restore windows", "status: repairing",
            #"repair "repair A", attempt 1: begins"#,
        ]),
        (["--unknown-after", "0"], "unknown*9 killed", ["killed checking normal 0 0 0", "status: checking", "task open database: run", "task restore windows: run"]),
        ([], "protect", ["protect repairing normal 0 1 1", "status: needs-repair", "status: repairing", #"repair "repair A", attempt 1: begins"#]),
        ([], "protect ok", ["ok checking probation 0 1 0", #"repair "repair A", attempt 1: ok"#, "status: checking"]),
        (["--shadow"], "crash*5 protect", ["protect checking normal 5 0 0", "protect: no effect in safe mode and in shadow"]),
        (["--by-hand"], "crash*2", ["crash needs-repair normal 2 1 0", "status: needs-repair", "on_report: streak 2", "protect: open database", "protect: restore windows"]),
        (["--by-hand"], "crash*2 repair fail", [
            "fail repairing normal 2 1 2", #"repair "repair A", attempt 1: failed"#, "status: needs-repair", "status: repairing", #"repair "repair A", attempt 2: begins"#,
        ]),
        (["--by-hand"], "crash*2 refuse", ["refuse needs-repair normal 2 2 0"]),
        (["--by-hand"], "crash*2 refuse*2", ["refuse checking safe 2 0 0", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--by-hand"], "crash*2 skip crash skip crash skip", ["skip checking safe 2 0 0", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--by-hand"], "crash*2 timeout", ["timeout checking safe 2 0 0", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--by-hand"], "crash wait:1s crash", ["crash needs-repair normal 2 1 0", "status: needs-repair", "on_report: streak 2", "protect: open database", "protect: restore windows"]),
        (["--by-hand"], "protect wait:1m", ["wait:1m needs-repair normal 0 1 0"]),
        (["--by-hand"], "protect wait:1m wait:1m", ["wait:1m checking safe 0 0 0", "status: checking"]),
        (["--repair", "reset:10:consent,attempts=1", "--repair", "wipe:20:consent"], "crash*2 repair fail", [
            "fail needs-repair normal 2 2 0", #"repair "reset", attempt 1: failed"#, "status: needs-repair",
        ]),
        (["--repair", "second:9", "--repair", "first:1:attempts=3"], "crash*2 fail", [
            "fail repairing normal 2 1 2", #"repair "first", attempt 1: failed"#, "status: needs-repair", "status: repairing", #"repair "first", attempt 2: begins"#,
        ]),
        (["--repair", "again:1:restart"], "crash*2 ok", [
            "ok normal probation 0 1 0", #"repair "again", attempt 1: ok"#, "status: normal", "begin: a repair needs a restart of the program; no task runs",
        ]),
        // A destructive repair is tried once a day.
        (["--repair", "reset:1:destructive", "--safe-retry-runs", "1"], "crash*2 ok crash*3", ["crash checking safe 3 0 0", "status: needs-repair, halted", "on_report: streak 3", "on_give_up", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--repair", "reset:1:destructive"], "crash*2 ok finish clean wait:24h crash*2", [
            "crash repairing normal 2 1 1", "status: needs-repair", "on_report: streak 2", "protect: open database", "protect: restore windows", "status: repairing",
            #"repair "reset", attempt 1: begins"#,
        ]),
        (["--task", "maps:suspect", "--task", "core:essential", "--repair-after", "1"], "crash-in:maps", [
            "crash-in:maps checking probation 0 0 0", "status: needs-repair", "on_report: streak 1", "protect: maps", "protect: core", "status: repairing",
            "rung 0, built in: the suspect task is left out", "status: checking", "task maps: left out", "task core: run",
        ]),
        (["--task", "maps:left-out", "--task", "core:essential,left-out", "--task", "window"], "crash*2 ok", [
            "ok checking probation 0 1 0", #"repair "repair A", attempt 1: ok"#, "status: checking", "task maps: left out by configuration",
            "task core: left out by configuration", "task window: run",
        ]),
        (["--task", "core", "--task", "maps:by-key", "--task", "mail:by-key"], "crash*2 ok", [
            "ok checking probation 0 1 0", #"repair "repair A", attempt 1: ok"#, "status: checking", "task core: run",
        ]),
        (["--task", "core", "--task", "maps:by-key", "--task", "mail:by-key"], "crash*2 ok replay:mail", ["replay:mail checking probation 0 1 0", "task mail: run"]),
        (["--task", "core", "--task", "maps:by-key"], "crash*2 ok replay:maps finish", ["finish normal normal 0 2 0", "status: normal"]),
        // The program decides.
        ([], "crash decide:go-on crash", [
            "crash checking normal 2 0 0", "on_decide: by rule needs-repair, streak 2; the program says go on", "status: checking", "on_report: streak 2",
            "task open database: run", "task restore windows: run",
        ]),
        ([], "decide:protect clean", [
            "clean repairing normal 0 1 1", "on_decide: by rule checking, streak 0; the program says protect", "status: needs-repair", "protect: open database",
            "protect: restore windows", "status: repairing", #"repair "repair A", attempt 1: begins"#,
        ]),
        ([], "decide:hold clean", [
            "clean needs-repair normal 0 1 0", "on_decide: by rule checking, streak 0; the program says hold", "status: needs-repair", "protect: open database",
            "protect: restore windows",
        ]),
        ([], "decide:hold clean repair", ["repair repairing normal 0 1 1", "status: repairing", #"repair "repair A", attempt 1: begins"#]),
        ([], "decide:hold clean skip", ["skip checking normal 0 1 0", "status: checking", "task open database: run", "task restore windows: run"]),
        (["--repairs-first", "--repair-after", "1", "--task", "maps:suspect"], "crash-in:maps", [
            "crash-in:maps repairing normal 1 1 1", "status: needs-repair", "on_report: streak 1", "protect: maps", "status: repairing",
            #"repair "repair A", attempt 1: begins"#,
        ]),
        // An end after the launch is reported, and does not count.
        ([], "finish crash", ["crash checking normal 0 0 0", "status: checking", "on_report: streak 0", "task open database: run", "task restore windows: run"]),
        ([], "finish crash crash", ["crash checking normal 1 0 0", "status: checking", "on_report: streak 1", "task open database: run", "task restore windows: run"]),
        (["--supervised", "--safe-crash-limit", "1"], "crash*2 fail*4 crash", ["crash needs-repair safe 3 0 0", "status: needs-repair, halted", "on_report: streak 3", "on_give_up"]),
        (["--supervised", "--safe-crash-limit", "1"], "crash*2 fail*4 crash try-safe", ["try-safe checking safe 3 0 0", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--supervised", "--safe-crash-limit", "1"], "crash*2 fail*4 crash timeout", ["timeout checking safe 3 0 0", "status: checking", "task open database: run", "task restore windows: left out"]),
        (["--report-after", "3", "--repair-after", "5"], "crash*3", ["crash checking normal 3 0 0", "status: checking", "on_report: streak 3", "task open database: run", "task restore windows: run"]),
        (["--safe-crash-limit", "0"], "crash*2 fail*4 crash*9", ["crash checking safe 11 0 0", "status: checking", "on_report: streak 11", "task open database: run", "task restore windows: left out"]),
        (["--safe-retry-runs", "1"], "crash*2 fail*4 finish clean crash finish clean finish", ["finish normal trial 1 0 0", "status: normal"]),
        (["--deescalate-runs", "1"], "crash*2 ok finish clean finish", ["finish normal normal 0 0 0", "status: normal"]),
        ([], "crash wait:100d*999", ["wait:100d checking normal 1 0 0", "status: checking", "on_report: streak 1", "task open database: run", "task restore windows: run"]),
        (["--context", "player"], "exit", ["exit checking normal 0 0 0", "status: checking", "task open database: run", "task restore windows: run"]),
    ]

    @Test(arguments: scenarios)
    func scenario(options: [String], events: String, last: [String]) throws {
        // The tasks of the usual policy have a space in their keys.
        let words = events.split(separator: " ").map { String($0.replacing("_", with: " ")) }
        let simulated = try Simulated(options + words)
        let step = try #require(simulated.steps.last)
        let after = step.after
        #expect("\(step.event) \(after.status) \(after.mode) \(after.streak) \(after.rung) \(after.attempts)" == last[0])
        let text = try Tool.run(["simulate"] + options + words)
        let lines = text.output.prefix(upTo: try #require(text.output.range(of: "\n\ncontext")).lowerBound).split(separator: "\n")
        let header = try #require(lines.lastIndex { !$0.contains(" · ") })
        #expect(lines[header...].dropFirst().map { String($0.trimmingPrefix("       · ")) } == Array(last.dropFirst()))
    }

    @Test func theContextAtTheEndIsThatOfALedger() throws {
        let simulated = try Simulated(["--repair", "reset:1:destructive,consent", "--context", "player", "crash-in:open database", "crash*1", "repair", "wait:1m"])
        let context = simulated.context
        #expect(context.name == "player" && context.status == "repairing" && context.rung == 1 && context.attempts == 2)
        #expect(context.lastTask == nil, "the last crash was in no task")
        #expect(context.ladder.map(\.name) == ["leave out the suspect task", "reset"])
        #expect(context.ladder[1].isDestructive && context.ladder[1].needsConsent && !context.ladder[1].needsRestart)
        #expect(context.ladder[1].lastSeries == Timestamp(nanoseconds: 60_000_000_000) && context.ladder[0].lastSeries == nil)
    }

    private static let mistakes: [(arguments: [String], message: String)] = [
        (["crash", "frobnicate"], #"event 2, "frobnicate": there is no such event; events are crash hang"#),
        (["crash*2", "crash-in:nothing"], #"event 3, "crash-in:nothing": there is no task "nothing"; tasks are "open database", "restore windows""#),
        (["wait:6"], #"event 1, "wait:6": "6" is not a time"#), (["wait:101d"], "is not a time"), (["crash*0"], #"event 1, "crash*0": an event is repeated"#),
        (["crash*1001"], "has at most 1000 events"), (["crash*99999999999999999999"], "has at most 1000 events"), (["crash*", ], "there is no such event"),
        (["--by-hand"], "the tour belongs to the default policy"), (["--context", "", "crash"], "the name of a launch's context must have"),
        (["--safe-retry-runs", "9", "crash"], "safeMode.retryRuns is 9; it must be between 1 and 8"),
        (["decide:maybe", "crash"], #"event 1, "decide:maybe": "maybe" is no course; courses are go-on, hold, protect"#),
        (["--report-after", "0", "crash"], "--report-after is 0; it must be at least 1"), (["--repair", "a:101", "crash"], "is not a number from 0 to 100"),
        (["--repair", "a:1:gentle", "crash"], #"there is no flag "gentle""#), (["--repair", "a", "--repair", "a", "crash"], #"repair "a": the name is taken"#),
        (["--task", "a:essential,unsafe", "crash"], "LaunchGuard leaves out no essential task"), (["--task", ":unsafe", "crash"], "is not a task"),
    ]

    @Test(arguments: mistakes)
    func aMistakeIsToldBeforeAnythingElse(arguments: [String], message: String) throws {
        let result = try Tool.run(["simulate"] + arguments)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.contains(message))
    }

    private static let impossible: [(arguments: [String], message: String)] = [
        (["ok"], #"event 1, "ok": the launch is under way, and its tasks have run; possible here: finish, protect, an end (crash hang"#),
        (["crash*2", "finish"], #"event 3, "finish": the repair "repair A" runs; possible here: ok, fail, timeout, crash-in-repair, an end"#),
        (["finish", "protect"], #"event 2, "protect": the launch is finished; possible here: an end"#), (["finish*2"], #"event 2, "finish""#),
        (["--by-hand", "crash*2", "ok"], "is held for a repair that waits for consent; possible here: repair, refuse, skip, repaired, timeout"),
        (["crash*2", "skip"], #"event 3, "skip": the repair"#), (["try-safe"], #"event 1, "try-safe""#), (["crash-in-repair"], #"event 1, "crash-in-repair""#),
        (["--repair", "again:1:restart", "crash*2", "ok", "finish"], "the program is about to be started again; possible here: an end"),
        (["--supervised", "--safe-crash-limit", "1", "crash*2", "fail*4", "crash", "skip"], "the launch is halted and waits; possible here: try-safe"),
        (["clean", "crash-in-report"], "belongs right after the end that starts its run"),
        (["crash*2", "fail*4", "crash-in:restore windows"], #"event 7, "crash-in:restore windows": the launch is under way"#),
    ]

    @Test(arguments: impossible)
    func aWordThatIsNotPossibleThereIsNamed(arguments: [String], message: String) throws {
        let result = try Tool.run(["simulate"] + arguments)
        #expect(result.status == 2)
        #expect(result.errors.contains(message))
        #expect(result.output.contains("\n  0  start "), "the steps before it are shown")
        #expect(!result.output.contains("\ncontext"))
        let json = try Tool.run(["simulate", "--json"] + arguments)
        #expect(json.status == 2 && json.output.isEmpty)
    }

    @Test func nothingIsWritten() throws {
        let folder = try TemporaryFolder()
        let result = try Tool.run(
            ["simulate", "crash*2", "ok"], variables: ["STATE_DIRECTORY": folder.path, "XDG_STATE_HOME": folder.path, "HOME": folder.path], folder: folder.path)
        #expect(result.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}

/// The output of `--json`, as far as the tests read it.
private struct Simulated: Decodable {
    struct Step: Decodable {
        var number: Int
        var event: String
        var remark: String?
        var after: Standing
        var callbacks: [Callback]
    }

    struct Standing: Decodable {
        var status: String
        var mode: String
        var streak: Int
        var rung: Int
        var attempts: Int
    }

    struct Callback: Decodable {
        var kind: String
        var outcome: String?
        var status: String?
        var isHalted: Bool?
    }

    var schema: Int
    var type: String
    var steps: [Step]
    var context: LedgerContext

    var statuses: Set<String> { Set(steps.flatMap(\.callbacks).compactMap(\.status)) }

    init(_ arguments: [String]) throws {
        let result = try Tool.run(["simulate", "--json"] + arguments)
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output.split(separator: "\n").count == 1)
        self = try JSONLine.value(from: result.output)
        #expect(schema == 1 && type == "simulation")
    }
}
