extension Guards {
    /// Configuration of the guards: ``Guards/start(_:)``.
    public struct Configuration: Sendable {
        /// Classes that are on; at least one.
        public var classes: Set<GuardClass> = .usual
        /// Policy of all classes.
        public var policy = GuardPolicy.usual
        /// Faults that are survived at one site in a minute, 1 to 1000000. Further ones are what
        /// they are without their guard.
        public var budget = 100
        /// Whether events leave no line on standard error.
        public var isQuiet = false
        /// Called for events, on a thread of LaunchGuard that may block. The closure may make any
        /// call of LaunchGuard, ``Guards/stop()`` included. A crash in it is a crash of the
        /// program. The closure of a start is kept until the start after the next one.
        public var onEvent: (@Sendable (GuardEvent) -> Void)? = nil

        /// The configuration of a program, with the defaults below.
        public init() {}
    }
}
