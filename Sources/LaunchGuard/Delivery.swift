import Synchronization

/// Reports leave the machine: ``Session/delivery``.
///
/// The program only says where reports go. A small program of its own, `launchguard-agent`, makes
/// the reports of the runs that ended badly and sends them, and outlives the program. Nothing
/// leaves the machine without ``Consent``.
///
/// ```swift
/// var configuration = Delivery.Configuration(target: .sentry(dsn: dsn))
/// configuration.consent = .given
/// try session.delivery.start(configuration)
/// if let problem = session.delivery.problem { print(problem) }
/// ```
///
/// Any thread may call every member.
public struct Delivery: Sendable {
    let core: CoreSession
    let told: DeliveryBroadcast

    /// Begin to deliver reports: store the configuration, and start the agent where none runs. The
    /// call waits for the disk only where the configuration has changed.
    ///
    /// In a simulated session the call checks the configuration, and nothing is delivered.
    ///
    /// What is missing in the environment does not keep the program from running: it is in the log,
    /// and ``problem`` is the reason. Without an agent's program
    /// (``LaunchGuardError/Code/noAgent``) reports stay owed, and all other members work. Nothing
    /// is delivered where `LAUNCHGUARD_NO_DELIVERY` or the file `spool/off` switches delivery off
    /// (``LaunchGuardError/Code/disabled``), beside the primary process
    /// (``LaunchGuardError/Code/secondary``), for a session without files
    /// (``LaunchGuardError/Code/unprotected``), and where the files cannot be written.
    ///
    /// - Throws: for a mistake in the call alone: ``LaunchGuardError/Code/option`` for a value that
    ///   makes no sense; ``LaunchGuardError/Code/already`` for a second call;
    ///   ``LaunchGuardError/Code/closed`` after ``Session/stop()``;
    ///   ``LaunchGuardError/Code/forked`` in a forked child.
    public func start(_ configuration: Configuration) throws(LaunchGuardError) {
        let options = try DeliveryOptions(configuration)
        do throws(LaunchGuardError) {
            try core.startDelivery(options, told)
        } catch {
            // A limit here is that of a file's size.
            guard error.isOfEnvironment || error.code == .limit else { throw error }
            note(error)
        }
    }

    /// The problem of the environment for which reports are not delivered, or only later; `nil`
    /// without one. It is that of the last ``start(_:)``, ``setConsent(_:)`` or
    /// ``requestReport(_:)`` that met one.
    public var problem: LaunchGuardError? { told.problem.withLock(\.self) }

    /// Store whether reports may leave the machine. After ``Consent/withheld`` all reports that
    /// were not sent are deleted, and no request is under way; no run that ends before consent is
    /// given again is ever sent, nor is this one.
    ///
    /// - Returns: false where the consent could not be stored, for the reason in ``problem``: what
    ///   was stored before still holds. After ``LaunchGuardError/Code/timeout`` it is stored, and
    ///   an agent that was stopped may finish the step or the request that it was in.
    @discardableResult
    public func setConsent(_ consent: Consent) -> Bool {
        do throws(LaunchGuardError) {
            try core.setDeliveryConsent(consent)
            return true
        } catch {
            note(error)
            return false
        }
    }

    /// Ask for a report of this run now, while it lives.
    ///
    /// - Parameter reason: one line for a person, cut to 255 bytes and at its first NUL.
    /// - Returns: the identity of the report, which is not that of the run; `nil` without a report,
    ///   for the reason in ``problem``: ``LaunchGuardError/Code/state`` before ``start(_:)``, and
    ///   without consent; ``LaunchGuardError/Code/limit`` where 16 requests wait already; others
    ///   where the files cannot be written.
    @discardableResult
    public func requestReport(_ reason: String) -> String? {
        do throws(LaunchGuardError) {
            return try core.requestDelivery(reason)
        } catch {
            note(error)
            return nil
        }
    }

    /// Wait until the reports that are owed now were sent. For a program whose agent cannot outlive
    /// it, as in a container, and for one that shows its user that a report is sent. The time
    /// counts neither towards the window of a launch nor as a hang. A thread of its own waits,
    /// while the caller's actor goes on with other work. A cancelled task waits to the end.
    ///
    /// - Parameter limit: longest time, 1 ms to 5 s; `nil` for two seconds less the time since the
    ///   process started.
    /// - Returns: ``WaitResult/nothing`` at once where a ``problem`` keeps ``start(_:)`` from
    ///   delivering.
    /// - Throws: for a mistake in the call alone: ``LaunchGuardError/Code/state`` before
    ///   ``start(_:)``; ``LaunchGuardError/Code/option`` for a limit that makes no sense;
    ///   ``LaunchGuardError/Code/closed`` after ``Session/stop()``.
    nonisolated(nonsending) public func wait(_ limit: Duration? = nil) async throws(LaunchGuardError) -> WaitResult {
        let ms = try DeliveryOptions.waitLimit(limit)
        do throws(LaunchGuardError) {
            return try await onThread { [core] _ in core.waitForDelivery(ms) }.get()
        } catch {
            guard error.isOfEnvironment || error.code == .state && problem != nil else { throw error }
            return .nothing
        }
    }

    /// The reports in the spool, oldest run first; empty for a session without files.
    ///
    /// - Throws: an error where the files cannot be read.
    public func entries() throws(LaunchGuardError) -> [Entry] {
        guard let directory = core.stateDirectory else { return [] }
        return try Self.entries(stateDirectory: directory)
    }

    /// The reports in the spool of any state directory, oldest run first; empty where there is no
    /// spool.
    ///
    /// - Throws: an error where the files cannot be read.
    public static func entries(stateDirectory: String) throws(LaunchGuardError) -> [Entry] {
        try Core.deliveryEntries(stateDirectory: stateDirectory)
    }

    /// The reports that were delivered, each once, when a launch of this run is finished. Each
    /// iteration gets all acknowledgements of this run. It ends with ``Session/stop()`` and with
    /// the end of a simulation.
    public var acknowledgements: Acknowledgements { Acknowledgements(source: told) }

    private func note(_ error: LaunchGuardError) {
        core.log(.warning, "delivery: \(error)")
        told.problem.withLock { $0 = error }
    }
}

extension Session {
    /// The delivery of reports.
    public var delivery: Delivery { Delivery(core: core, told: deliveredReports) }
}
