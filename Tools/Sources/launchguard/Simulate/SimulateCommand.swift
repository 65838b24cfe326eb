import ArgumentParser
import LaunchGuard
import LaunchGuardReportModel

/// `launchguard simulate`
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Walk a launch policy through crashes, repairs and safe mode, without a process that dies.",
        discussion: """
            The launch machine itself runs on a ledger in memory; nothing is written to disk. Each event is a line: the change of \
            status, mode, streak and rung of the ladder. The callbacks that ran follow below, in order. When a run has ended, the next \
            run begins by itself and goes on until it needs the next event. Without events a short tour shows every state and every \
            callback.

            EVENTS
              crash hang oom exit unknown killed clean terminated reboot upgrade
              debugger         the run ends in this way, in any state
              crash-in:TASK hang-in:TASK oom-in:TASK killed-in:TASK unknown-in:TASK
              terminated-in:TASK
                               the run ends in this task; first, or right after an
                               end
              crash-before-begin
                               the run crashes before it begins its launch; first,
                               or right after an end
              crash-in-report crash-in-protect crash-in-give-up
                               the run crashes in this callback; right after an end
              crash-in-repair  the run crashes in the repair under way
              ok fail timeout  the outcome of the repair under way
              repair refuse skip
                               the user's answer to a repair that waits for
                               consent; timeout: no answer until the deadline
              repaired         the program has repaired itself while it is held or
                               halted
              replay:TASK      a task that waits for its key after a hold runs
              try-safe         one more try in safe mode, where a supervised
                               launch is halted; timeout: likewise
              finish           the launch is finished
              protect          the program asks for protection
              decide:go-on decide:protect decide:hold
                               what the program decides about the next launch,
                               in front of the end that it follows
              wait:TIME        time passes, for example 6h: between two runs
                               right after an end, else within the run
              EVENT*COUNT      the event repeated, for example crash*5
              "(EVENT, EVENT)*COUNT"
                               the group repeated, for example
                               "(crash, finish, clean)*3"

            EXIT STATUS
              0  the scenario came to its end
              2  the command line is wrong, or an event is not possible in its place

            EXAMPLES
              launchguard simulate
              launchguard simulate crash crash ok finish
              launchguard simulate --repair-after 3 crash*3 fail*2 crash-in-repair
              launchguard simulate --repair reset:90:destructive,consent crash*2 refuse
              launchguard simulate --task maps:suspect --repair-after 1 crash-in:maps
              launchguard simulate --by-hand crash*2 skip crash repair ok finish
              launchguard simulate --no-repairs protect repaired finish
              launchguard simulate crash decide:go-on crash finish
              launchguard simulate crash "clean*3" crash
              launchguard simulate "(finish, crash)*3"
              launchguard simulate --no-repairs --task maps killed-in:maps*4
              launchguard simulate --json crash crash ok | jq -r '.steps[].after.status'
            """
    )

    @Argument(
        help: ArgumentHelp("The events of the scenario, in order.", valueName: "event"),
        completion: .list(
            SimulationWord.ends.map(\.rawValue) + SimulationWord.endsInTask.map(\.prefix) + [
                "finish", "protect", "repair", "refuse", "skip", "repaired", "try-safe", "ok", "fail", "timeout", "replay:",
                "crash-in-repair", "crash-in-report", "crash-in-protect", "crash-in-give-up", "crash-before-begin", "decide:go-on", "decide:protect", "decide:hold", "wait:6h", "wait:24h",
            ]))
    var events: [String] = []

    @OptionGroup var policy: PolicyOptions

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() async throws {
        do {
            try await play()
        } catch let error as ScenarioError {
            Output.complain("\(error)")
            try ExitStatus.usage.end()
        } catch let error as PolicyError {
            Output.complain("\(error)")
            try ExitStatus.usage.end()
        } catch let error as any Error & CustomStringConvertible where error is LaunchGuardError || error is SimulationStuck {
            Output.complain("\(error)")
            try ExitStatus.nothingFound.end()
        }
    }

    private func play() async throws {
        let words =
            events.isEmpty
            ? try SimulationTour.words(for: policy) : try SimulationWord.parse(events, tasks: policy.tasks.map(\.key))
        let isText = !json
        let simulator = try Simulator(policy) { step in
            guard isText else { return }
            var writer = Output.makeWriter()
            step.write(to: &writer)
            Output.write(writer.bytes)
        }
        if isText {
            var writer = Output.makeWriter()
            SimulationReport.writeHead(of: policy, to: &writer)
            Output.write(writer.bytes)
        }
        let report = try await simulator.run(words)
        guard isText else { return Output.writeLine(json: report) }
        var writer = Output.makeWriter()
        writer.endLine()
        report.context?.write(to: &writer, now: simulator.now, time: \.sinceStartText)
        Output.write(writer.bytes)
    }
}
