/// What is shown where no scenario is given: every status, every mode and every callback.
enum SimulationTour {
    private static let scenario: [(word: String, remark: String)] = [
        ("crash-in:restore windows", "The first launch crash is reported."),
        ("crash-in:restore windows", "Two crashes in one task make it suspect: rung 0 leaves it out for this launch."),
        ("crash", "One crash on probation climbs the ladder: the launch is held, the first repair begins."),
        ("fail", "It has another attempt."),
        ("ok", "The launch goes on in the same process, on probation."),
        ("crash", "That repair did not help either: the next one begins."),
        ("timeout", "A repair that does not answer has failed."),
        ("crash-in-repair", "A crash in a repair costs an attempt. No repair is left: safe mode."),
        ("crash", "Safe mode crashes, too."),
        ("crash", "Twice: the launch is halted. The program may give up; then safe mode gets one more try."),
        ("finish", "The first good launch in safe mode."),
        ("clean", "A clean end changes nothing."),
        ("finish", "The second one: the next launch tries the normal way again."),
        ("clean", "The trial: all tasks run."),
        ("finish", "The trial is finished: all is forgotten."),
        ("clean", "A normal launch."),
        ("finish", "All is well."),
    ]

    /// The words of the tour, which is one of the usual policy.
    static func words(for policy: PolicyOptions) throws -> [SimulationWord] {
        guard policy.isUsual else {
            throw PolicyError(
                description: "the tour is one of the usual policy; one of your own wants events, for example: crash crash ok finish")
        }
        var words = try SimulationWord.parse(scenario.map(\.word), tasks: policy.tasks.map(\.key))
        for index in words.indices { words[index].remark = scenario[index].remark }
        return words
    }
}

extension PolicyOptions {
    /// Whether nothing but the name of the launch was chosen.
    fileprivate var isUsual: Bool {
        reportAfter == 1 && repairAfter == 2 && (unknownAfter ?? 4) == 4 && repair.isEmpty && task.isEmpty && !byHand && !supervised
            && safeRetryRuns == 2 && safeCrashLimit == 2 && deescalateRuns == 3 && !shadow
    }
}
