/// The faults that guards found, by the place in the program that met them.
public struct GuardRecord: Codable, Hashable, Sendable {
    /// Events of all sites.
    public var events: UInt64
    /// Events that were survived; not 0: the run is degraded.
    public var survived: UInt64
    /// In the order of their first events, and last the events for whose site there was no place;
    /// nil: not read.
    public var sites: [Site]?

    public init(events: UInt64, survived: UInt64, sites: [Site]? = nil) {
        self.events = events
        self.survived = survived
        self.sites = sites
    }

    /// The events of one place in the program. Fields other than counts and actions describe the
    /// first event; they are nil where the program ended before they were stored.
    public struct Site: Codable, Hashable, Sendable {
        /// Nil: several sites together, for which there was no place.
        public var guardClass: GuardClass?
        /// Action on the last event; nil: the first one was under way.
        public var action: Action?
        /// The code that met the fault; nil as above.
        public var place: Frame?
        public var events: UInt64
        public var survived: UInt64
        /// Times of the first and of the last event, on the monotonic clock.
        public var firstNanoseconds: UInt64?
        public var lastNanoseconds: UInt64?
        public var threadID: Int32?
        public var threadName: String?
        /// One line for people.
        public var text: String?
        /// Values of redacted keys are nil.
        public var fields: [Breadcrumb.Field]?
        /// The innermost first.
        public var frames: [Frame]?
        /// True: what it holds beside the counts contradicts itself, and is not shown.
        public var isDamaged: Bool?

        public init(guardClass: GuardClass?, action: Action?, place: Frame? = nil, events: UInt64, survived: UInt64) {
            self.guardClass = guardClass
            self.action = action
            self.place = place
            self.events = events
            self.survived = survived
        }
    }

    /// The kind of faults that a guard finds. One that this version does not know is its number.
    public struct GuardClass: RawRepresentable, Codable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A mapped file that is shorter than its mapping, or a guarded read that reaches no
        /// memory.
        public static let memory = GuardClass(rawValue: "memory")
        /// A function that a plugin lacks.
        public static let symbol = GuardClass(rawValue: "symbol")
        /// A call through a null pointer.
        public static let nullCall = GuardClass(rawValue: "null-call")
        /// An observer that was added twice, removed twice, or had lost its owner.
        public static let observer = GuardClass(rawValue: "observer")
        /// A timer or dispatch source that was used out of order, or had lost its owner.
        public static let timer = GuardClass(rawValue: "timer")
        /// An index or key outside of a container.
        public static let container = GuardClass(rawValue: "container")
        /// A result that does not fit, or a divisor that is zero.
        public static let arithmetic = GuardClass(rawValue: "arithmetic")
        /// A string that is null, not valid, or shorter than a range.
        public static let string = GuardClass(rawValue: "string")
        /// A call from another thread than the one that it belongs to.
        public static let confinement = GuardClass(rawValue: "confinement")
        /// A handle whose object was released.
        public static let handle = GuardClass(rawValue: "handle")
    }

    /// The action of a guard. An action that this version does not know is its number.
    public struct Action: RawRepresentable, Codable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The guard neutralised the fault.
        public static let survived = Action(rawValue: "survived")
        /// The guard reported the fault, and left it as it was.
        public static let reported = Action(rawValue: "reported")
        /// The guard ended the program.
        public static let ended = Action(rawValue: "ended")
        /// The guard left the fault as it was, because the budget of the site was spent.
        public static let exhausted = Action(rawValue: "exhausted")
    }
}

extension RunReport {
    /// Whether guards survived faults in the run.
    public var isDegraded: Bool { (guards?.survived ?? 0) > 0 }
}
