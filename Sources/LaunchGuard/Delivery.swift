/// Reports leave the machine: ``Session/delivery``.
///
/// The program only says where reports go. A small program of its own, `launchguard-agent`, makes
/// the reports of the runs that ended badly and sends them, and outlives the program. Nothing
/// leaves the machine without ``Consent``. C: `launchguard/delivery.h`.
///
/// ```swift
/// var configuration = Delivery.Configuration(target: .sentry(dsn: dsn))
/// configuration.consent = .given
/// try session.delivery.start(configuration)
/// ```
///
/// Any thread may call every member.
public struct Delivery: Sendable {
    let core: CoreSession
    let told: DeliveryBroadcast

    /// Begin to deliver reports: store the configuration, and start the agent where none runs. The
    /// call waits for the disk only where the configuration has changed. C: `lg_delivery_start()`.
    ///
    /// In a simulated session the call checks the configuration, and nothing is delivered.
    ///
    /// - Throws: ``LaunchGuardError/Code/noAgent`` when no agent's program is found: reports stay
    ///   owed, and all other members work; ``LaunchGuardError/Code/option`` for a value that makes
    ///   no sense; ``LaunchGuardError/Code/already`` for a second call;
    ///   ``LaunchGuardError/Code/disabled`` where `LAUNCHGUARD_NO_DELIVERY` or the file `spool/off`
    ///   switches delivery off; ``LaunchGuardError/Code/secondary`` beside the primary process;
    ///   ``LaunchGuardError/Code/unprotected`` for a session without files, and others where the
    ///   files cannot be written.
    public func start(_ configuration: Configuration) throws(LaunchGuardError) {
        try core.startDelivery(try DeliveryOptions(configuration), told)
    }

    /// Store whether reports may leave the machine. ``Consent/withheld`` deletes all reports that
    /// were not sent; no run that ends before consent is given again is ever sent, nor is this one.
    /// C: `lg_delivery_consent()`.
    ///
    /// - Throws: as ``start(_:)``, where the files cannot be written.
    public func setConsent(_ consent: Consent) throws(LaunchGuardError) {
        try core.setDeliveryConsent(consent)
    }

    /// Ask for a report of this run now, while it lives. C: `lg_delivery_report_now()`.
    ///
    /// - Parameter reason: one line for a person, cut to 255 bytes and at its first NUL.
    /// - Returns: the identity of the report, which is not that of the run.
    /// - Throws: ``LaunchGuardError/Code/state`` before ``start(_:)``, and without consent;
    ///   ``LaunchGuardError/Code/limit`` where 16 requests wait already; others where the files
    ///   cannot be written.
    @discardableResult
    public func requestReport(_ reason: String) throws(LaunchGuardError) -> String {
        try core.requestDelivery(reason)
    }

    /// Wait until the reports that are owed now were sent. For a program whose agent cannot outlive
    /// it, as in a container, and for one that shows its user that a report is sent. The time
    /// counts neither towards the window of a launch nor as a hang. A thread of its own waits,
    /// while the caller's actor goes on with other work. A cancelled task waits to the end. C:
    /// `lg_delivery_wait()`.
    ///
    /// - Parameter limit: longest time, 1 ms to 5 s; `nil` for two seconds less the time since the
    ///   process started.
    /// - Throws: ``LaunchGuardError/Code/state`` before ``start(_:)``;
    ///   ``LaunchGuardError/Code/option`` for a limit that makes no sense;
    ///   ``LaunchGuardError/Code/closed`` after ``Session/stop()``.
    nonisolated(nonsending) public func wait(_ limit: Duration? = nil) async throws(LaunchGuardError) -> WaitResult {
        let ms = try DeliveryOptions.waitLimit(limit)
        return try await onThread { [core] _ in core.waitForDelivery(ms) }.get()
    }

    /// The reports in the spool, oldest run first; empty for a session without files. C:
    /// `lg_delivery_entries()`.
    ///
    /// - Throws: an error where the files cannot be read.
    public func entries() throws(LaunchGuardError) -> [Entry] {
        guard let directory = core.stateDirectory else { return [] }
        return try Self.entries(stateDirectory: directory)
    }

    /// The reports in the spool of any state directory, oldest run first; empty where there is no
    /// spool. C: `lg_delivery_entries()`.
    ///
    /// - Throws: an error where the files cannot be read.
    public static func entries(stateDirectory: String) throws(LaunchGuardError) -> [Entry] {
        try Core.deliveryEntries(stateDirectory: stateDirectory)
    }

    /// The reports that were delivered, each once, when a launch of this run is finished. Each
    /// iteration gets all acknowledgements of this run. It ends with ``Session/stop()`` and with
    /// the end of a simulation. C: `lg_delivery_options.on_delivered`.
    public var acknowledgements: Acknowledgements { Acknowledgements(source: told) }
}

extension Session {
    /// The delivery of reports.
    public var delivery: Delivery { Delivery(core: core, told: deliveredReports) }
}
