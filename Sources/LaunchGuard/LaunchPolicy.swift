extension LaunchGuard {
    /// What a launch rarely has to say about itself. C: the fields of `lg_launch_options` named below.
    ///
    /// ```swift
    /// session.launch("main", policy: .init(hold: .custody, automaticRepair: false, killSwitch: "PLAYER_UNPROTECTED"))
    /// ```
    public struct LaunchPolicy: Sendable {
        /// What counts as a launch crash. Unexplained early deaths have a counter of their own. C: `count`.
        public var count: Count
        /// A streak whose last crash is this long ago, in this boot, is forgotten; `nil` for never. C: `streak_gap_ms`.
        public var streakGap: Duration?
        /// When given, time finishes a launch only while ``Session/heartbeat()`` is called at least this often, and a launch without it
        /// for that long is marked as hanging until the next; at most a day. C: `heartbeat_ms`.
        public var heartbeat: Duration?
        /// What ``Launch/begin()`` does while the launch is held. C: `hold`.
        public var hold: Hold
        /// After so much waiting for consent, protect actions or ``Launch/trySafe()`` a held launch goes on in safe mode; at most a
        /// day. Repairs have timeouts of their own, and their time does not count. C: `hold_ms`.
        public var holdDeadline: Duration
        /// Whether repairs start by themselves; otherwise they wait for ``Launch/repair()``. C: `auto_repair`.
        public var automaticRepair: Bool
        /// How safe mode is left, and when it is given up.
        public var safeMode: SafeMode
        /// When the ladder starts at its foot again after a repair.
        public var deescalation: Deescalation
        /// Whether this start was made by a supervisor and not by a person: a halted launch then stays halted until
        /// ``Launch/trySafe()`` or the deadline of the hold. C: `supervised`.
        public var isSupervised: Bool
        /// Whether the launch only decides, counts and reports, and holds and repairs nothing; the log says what would have been done.
        /// C: `shadow`.
        public var isShadow: Bool
        /// Name of an environment variable that makes the launch an unprotected one when it is set and neither empty nor "0"; not
        /// looked at in setuid programs. C: `kill_switch`.
        public var killSwitch: String?
        /// File names of modules that are this context's own, for example "libplayer.so": a crash in one of them counts only for the
        /// contexts that own it. There is room for 239 bytes together. C: `modules`.
        public var modules: [String]

        public init(
            count: Count = .default,
            streakGap: Duration? = .seconds(6 * 3600),
            heartbeat: Duration? = nil,
            hold: Hold = .block,
            holdDeadline: Duration = .seconds(120),
            automaticRepair: Bool = true,
            safeMode: SafeMode = SafeMode(),
            deescalation: Deescalation = Deescalation(),
            isSupervised: Bool = false,
            isShadow: Bool = false,
            killSwitch: String? = nil,
            modules: [String] = []
        ) {
            self.count = count
            self.streakGap = streakGap
            self.heartbeat = heartbeat
            self.hold = hold
            self.holdDeadline = holdDeadline
            self.automaticRepair = automaticRepair
            self.safeMode = safeMode
            self.deescalation = deescalation
            self.isSupervised = isSupervised
            self.isShadow = isShadow
            self.killSwitch = killSwitch
            self.modules = modules
        }
    }
}
