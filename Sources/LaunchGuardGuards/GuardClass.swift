/// The kind of a fault that a guard finds.
public enum GuardClass: UInt32, Sendable, CaseIterable {
    /// A mapped file is shorter than its mapping, or a guarded read reaches no memory.
    case memory = 1
    /// A function that a plugin lacks is called through its table.
    case symbol = 2
    /// A function of C is called through a null pointer.
    case nullCall = 3
    /// An observer is added twice, removed twice, or its owner is gone.
    case observer = 4
    /// A timer or dispatch source is used out of order, or its owner is gone.
    case timer = 5
    /// An index or key is outside of a container.
    case container = 6
    /// A result does not fit, or a divisor is zero.
    case arithmetic = 7
    /// A string is missing, not valid, or shorter than a range.
    case string = 8
    /// A call that belongs to one thread comes from another.
    case confinement = 9
    /// A handle is used after its object was released.
    case handle = 10
}

extension Set<GuardClass> {
    /// Every class.
    public static var all: Self { Set(GuardClass.allCases) }

    /// All but ``GuardClass/nullCall``, which changes what an instruction of any function does, and
    /// ``GuardClass/arithmetic``, after whose faults the program goes on with a wrong number.
    public static var usual: Self { all.subtracting([.nullCall, .arithmetic]) }
}
