/// The default scenario: every status, every mode and every callback.
enum SimulationTour {
    private static let scenario: [(word: String, remark: String)] = [
        ("crash-in:restore windows", "The first launch crash is reported."),
        ("crash-in:restore windows", "Two crashes in one task make it suspect: rung 0 leaves it out for this launch."),
        ("crash", "One crash on probation climbs the ladder: the launch is held, the first repair begins."),
        ("fail", "The repair has another attempt."),
        ("ok", "The launch goes on in the same process, on probation."),
        ("crash", "The repair did not help: the next one begins."),
        ("timeout", "A repair that does not answer has failed."),
        ("crash-in-repair", "A crash in a repair costs an attempt. No repair is left: safe mode."),
        ("crash", "Safe mode crashes, too."),
        ("crash", "The second one halts the launch. After give-up, safe mode gets one more try."),
        ("finish", "The first good launch in safe mode."),
        ("clean", "A clean end changes nothing."),
        ("finish", "The second good launch: the next launch is a trial of the normal one."),
        ("clean", "The trial: all tasks run."),
        ("finish", "The trial is finished: the launch is normal again."),
        ("clean", "A normal launch."),
        ("finish", "All is well."),
    ]

    /// The events of the tour, which belongs to the default policy.
    static func words(for policy: PolicyOptions) throws -> [SimulationWord] {
        guard policy.isUsual else {
            throw PolicyError(
                description: "the tour belongs to the default policy; a policy of your own needs events, for example: crash crash ok finish")
        }
        var words = try SimulationWord.parse(scenario.map(\.word), tasks: policy.tasks.map(\.key))
        for index in words.indices { words[index].remark = scenario[index].remark }
        return words
    }
}

extension PolicyOptions {
    /// Whether all options but the name of the launch have their defaults.
    fileprivate var isUsual: Bool {
        reportAfter == 1 && repairAfter == 2 && (unknownAfter ?? 4) == 4 && repair.isEmpty && task.isEmpty && !byHand && !supervised
            && safeRetryRuns == 2 && safeCrashLimit == 2 && deescalateRuns == 3 && !shadow
    }
}
