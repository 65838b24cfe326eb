/// Action on a fault.
public enum GuardAction: UInt32, Sendable, CaseIterable {
    /// The fault was neutralised.
    case survived = 1
    /// By the policy: the fault was reported, and left as it was.
    case reported = 2
    /// By the policy: the program was ended. Seen in the run file alone.
    case ended = 3
    /// The budget of the site was spent: it was left as it was.
    case exhausted = 4
}
