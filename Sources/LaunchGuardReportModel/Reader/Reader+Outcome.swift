internal import CLaunchGuard

/// What delivery made of an ended run, by the word in its file. C: `lg_run_info.reported`.
struct RunOutcome {
    enum Kind { case none, unwanted, spooled, counted, withoutConsent, sent, dead }

    var kind: Kind
    /// Number of the run whose report counts this one.
    var countedIn: UInt64?
    /// Whether a launch was under way.
    var isLaunching: Bool
}

extension Reader {
    /// Nil: the run goes on, or the file does not show it.
    var outcome: RunOutcome? {
        var info = lg_run_info()
        guard unsafe lg_reader_run(handle, &info) == LG_OK, info.alive == 0 else { return nil }
        let kind: RunOutcome.Kind =
            switch info.reported {
            case LG_REPORTED_UNWANTED: .unwanted
            case LG_REPORTED_SPOOLED: .spooled
            case LG_REPORTED_COUNTED: .counted
            case LG_REPORTED_NO_CONSENT: .withoutConsent
            case LG_REPORTED_SENT: .sent
            case LG_REPORTED_DEAD: .dead
            default: .none
            }
        let isLaunching = (0..<info.context_count).contains { index in
            var context = lg_run_context()
            guard unsafe lg_reader_run_context(handle, index, &context) == LG_OK else { return false }
            return ![LG_PHASE_NONE, LG_PHASE_FINISHED, LG_PHASE_TERMINATING].contains(context.phase)
        }
        return RunOutcome(kind: kind, countedIn: info.counted_in.nonZero, isLaunching: isLaunching)
    }
}
