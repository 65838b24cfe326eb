extension Launch {
    /// What a launch does, and when. C: the fields of `lg_launch_options` named below.
    ///
    /// ```swift
    /// session.launch("main", .init(repairAfter: 3, hold: .custody, onReport: { batch in
    ///     print("\(batch.streak) crashes in a row, \(batch.reports.count) new runs")
    /// }))
    /// ```
    public struct Configuration: Sendable {
        /// Launch crashes in a row from which ``onReport`` is called; at least 1. C:
        /// `report_after`.
        public var reportAfter: Int
        /// Launch crashes in a row from which repairs are tried; at least 1. C: `repair_after`.
        public var repairAfter: Int
        /// Unexplained early deaths from which they are reported and repairs are tried. C:
        /// `unknown_after`.
        public var unknownAfter: UnknownThreshold
        /// Time after which the launch is finished, at most a day; zero for only by mark. C:
        /// `window_ms`.
        public var window: Duration
        /// The condition that finishes the launch. C: `finish`.
        public var finish: Finish
        /// Longest wait for the answer of ``onReport`` and ``onGiveUp``; at most 5 s. C:
        /// `report_wait_ms`.
        public var reportWait: Duration
        /// The ends that count as a launch crash. Unexplained early deaths have a counter of their
        /// own. C: `count`.
        public var count: Count
        /// A counted end within this time after the launch was finished is one of a loop:
        /// `repairAfter` of them in a row need a repair, as launch crashes do; `nil` for never. C:
        /// `steady_ms`.
        public var steadyAfter: Duration?
        /// Longest time between two calls of ``Session/sendHeartbeat()``; `nil`: off. With a value,
        /// time finishes the launch only while ``Session/sendHeartbeat()`` is called at least this
        /// often. A launch without a heartbeat for this long is marked as hanging until the next
        /// heartbeat. At most a day. C: `heartbeat_ms`.
        public var heartbeat: Duration?
        /// The behaviour of ``Launch/begin()`` while the launch is held. C: `hold`.
        public var hold: Hold
        /// Longest wait for consent or ``Launch/Halt/trySafeMode()``; a held launch then goes on in
        /// safe mode. At most a day. Protect actions use up the same time. Repairs have timeouts of
        /// their own, and their time does not count. C: `hold_ms`.
        public var holdDeadline: Duration
        /// Whether repairs start by themselves; otherwise they wait for ``Launch/Hold/repair()``.
        /// C: `auto_repair`.
        public var repairsAutomatically: Bool
        /// Whether the launch is first tried without a suspect task, before any repair; otherwise
        /// the first repair takes the first turn. Safe mode leaves the task out all the same. C:
        /// `leave_out_suspects`.
        public var leavesOutSuspects: Bool
        /// The wait for a repair that has timed out, and the course after it.
        public var overrun: Overrun
        /// The conditions under which safe mode is left and given up.
        public var safeMode: SafeMode
        /// The conditions under which the ladder starts at its lowest rung again after a repair.
        public var deescalation: Deescalation
        /// Whether a supervisor and not a person made this start. A halted launch then stays halted
        /// until ``Launch/Halt/trySafeMode()`` or the deadline of the hold. C: `supervised`.
        public var isSupervised: Bool
        /// Whether the launch only decides, counts and reports, and holds and repairs nothing; the
        /// log says what LaunchGuard would have done. C: `shadow`.
        public var isShadow: Bool
        /// The effect of a cancelled caller of ``Launch/begin()``.
        public var cancellation: Cancellation
        /// Name of an environment variable. The launch is unprotected when the variable is set and
        /// neither empty nor "0". A setuid program ignores the variable. C: `kill_switch`.
        public var killSwitch: String?
        /// File names of modules that belong to this context alone, for example "libplayer.so". A
        /// crash in one of them counts only for the contexts that own the module. The names have
        /// room for 239 bytes together. C: `modules`.
        public var modules: [String]

        /// Decides the course of the launch. C: `on_decide`.
        ///
        /// ``Launch/begin()`` calls the closure on its own thread, before anything of the launch is
        /// done: answer at once. A launch in shadow ignores the answer. A death inside the closure
        /// counts as a launch crash. After two such deaths since the last finished launch or repair
        /// the rule decides, and the closure is not called. The closure receives the context as the
        /// rule would have it in this launch: ``LaunchInfo/status`` is
        /// ``Launch/Status/awaitingRepair`` where the rule would hold the launch.
        public var onDecide: (@Sendable (LaunchInfo) -> Launch.Decision)?
        /// Receives the runs that have crashed. C: `on_report`.
        ///
        /// The closure is called once for each new value of the streak from ``reportAfter`` on,
        /// once where unexplained deaths reach ``unknownAfter``, and once after an end that came
        /// while no launch was under way, before anything else of the launch runs. The launch waits
        /// for it at most ``reportWait``; the closure may run longer. An error that the closure
        /// throws is logged.
        public var onReport: (@Sendable (Launch.ReportBatch) async throws -> Void)?
        /// Called each time that the launch, which is held, begins to wait for an answer of the
        /// program, after its protect actions; not where repairs start by themselves. C: `on_hold`.
        ///
        /// ```swift
        /// onHold: { @MainActor [window] hold in window.ask(hold) }
        /// ```
        ///
        /// Nothing waits for the closure. An error that the closure throws is logged.
        public var onHold: (@Sendable (consuming Launch.Hold) async throws -> Void)?
        /// Called when repairs and safe mode did not help and the launch is halted: the place to
        /// restore the factory state, to show a notice, or to ask the supervisor to stop trying. C:
        /// `on_give_up`.
        ///
        /// The launch waits for the closure at most ``reportWait``, then makes one try in safe
        /// mode. Where the start is supervised, it makes that try only after
        /// ``Launch/Halt/trySafeMode()``. An error that the closure throws is logged.
        public var onGiveUp: (@Sendable (consuming Launch.Halt) async throws -> Void)?
        /// Called for each change of the status, where the change happens, in order with all other
        /// closures of the launch, which ``Launch/statusUpdates`` cannot promise. The closure must
        /// not block. C: `on_status`.
        public var onStatus: (@Sendable (Launch.Status) -> Void)?

        /// Every option has the default of the C interface.
        public init(
            reportAfter: Int = 1,
            repairAfter: Int = 2,
            unknownAfter: UnknownThreshold = .twiceRepairAfter,
            window: Duration = .seconds(5),
            finish: Finish = .either,
            reportWait: Duration = .seconds(2),
            count: Count = .default,
            steadyAfter: Duration? = .seconds(60),
            heartbeat: Duration? = nil,
            hold: Hold = .block,
            holdDeadline: Duration = .seconds(120),
            repairsAutomatically: Bool = true,
            leavesOutSuspects: Bool = true,
            overrun: Overrun = Overrun(),
            safeMode: SafeMode = SafeMode(),
            deescalation: Deescalation = Deescalation(),
            isSupervised: Bool = false,
            isShadow: Bool = false,
            cancellation: Cancellation = .ignored,
            killSwitch: String? = nil,
            modules: [String] = [],
            onDecide: (@Sendable (LaunchInfo) -> Launch.Decision)? = nil,
            onReport: (@Sendable (Launch.ReportBatch) async throws -> Void)? = nil,
            onHold: (@Sendable (consuming Launch.Hold) async throws -> Void)? = nil,
            onGiveUp: (@Sendable (consuming Launch.Halt) async throws -> Void)? = nil,
            onStatus: (@Sendable (Launch.Status) -> Void)? = nil
        ) {
            self.reportAfter = reportAfter
            self.repairAfter = repairAfter
            self.unknownAfter = unknownAfter
            self.window = window
            self.finish = finish
            self.reportWait = reportWait
            self.count = count
            self.steadyAfter = steadyAfter
            self.heartbeat = heartbeat
            self.hold = hold
            self.holdDeadline = holdDeadline
            self.repairsAutomatically = repairsAutomatically
            self.leavesOutSuspects = leavesOutSuspects
            self.overrun = overrun
            self.safeMode = safeMode
            self.deescalation = deescalation
            self.isSupervised = isSupervised
            self.isShadow = isShadow
            self.cancellation = cancellation
            self.killSwitch = killSwitch
            self.modules = modules
            self.onDecide = onDecide
            self.onReport = onReport
            self.onHold = onHold
            self.onGiveUp = onGiveUp
            self.onStatus = onStatus
        }
    }
}
