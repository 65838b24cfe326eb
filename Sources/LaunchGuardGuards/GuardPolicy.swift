/// Policy for the faults of a class. The event is reported in each case.
public enum GuardPolicy: UInt32, Sendable, CaseIterable {
    /// The fault is neutralised, and the program goes on.
    case survive = 1
    /// The operation goes on as without its guard.
    case report = 2
    /// The program ends at once, also where the operation without its guard would have gone on.
    case fatal = 3

    /// ``fatal`` in a debug build, which hides no bug from its author, else ``survive``.
    public static var usual: Self {
        #if DEBUG
        .fatal
        #else
        .survive
        #endif
    }
}
