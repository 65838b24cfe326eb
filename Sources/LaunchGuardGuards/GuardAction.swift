/// Action on a fault. C: `lg_guard_action`.
public enum GuardAction: UInt32, Sendable, CaseIterable {
    /// The fault was neutralised. C: `LG_GUARD_SURVIVED`.
    case survived = 1
    /// By the policy: the fault was reported, and left as it was. C: `LG_GUARD_REPORTED`.
    case reported = 2
    /// By the policy: the program was ended. Seen in the run file alone. C: `LG_GUARD_ENDED`.
    case ended = 3
    /// The budget of the site was spent: it was left as it was. C: `LG_GUARD_EXHAUSTED`.
    case exhausted = 4
}
