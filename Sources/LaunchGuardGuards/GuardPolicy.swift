/// Policy for the faults of a class. The event is reported in each case. C: `lg_guard_policy`.
public enum GuardPolicy: UInt32, Sendable, CaseIterable {
    /// The fault is neutralised, and the program goes on. C: `LG_GUARD_SURVIVE`.
    case survive = 1
    /// The operation goes on as without its guard. C: `LG_GUARD_REPORT`.
    case report = 2
    /// The program ends at once, also where the operation without its guard would have gone on. C:
    /// `LG_GUARD_FATAL`.
    case fatal = 3

    /// ``fatal`` in a debug build, which hides no bug from its author, else ``survive``. C:
    /// `LG_GUARD_POLICY_DEFAULT`.
    public static var usual: Self {
        #if DEBUG
        .fatal
        #else
        .survive
        #endif
    }
}
