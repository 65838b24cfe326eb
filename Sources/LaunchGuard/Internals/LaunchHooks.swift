import Synchronization

/// What the core calls back during one launch: turns each call into a Swift task and its end into the answer.
final class LaunchHooks: Sendable {
    typealias Report = @Sendable (Int, [LaunchGuard.Report]) async throws -> Void

    /// A closure of the program, with the name it was registered under.
    struct Body: Sendable {
        let name: String
        let run: @Sendable () async throws -> Void
    }

    let statuses = StatusBroadcast()
    private let session: CoreSession
    private let report = Mutex<Report?>(nil)
    private let repair = Mutex<Task<Void, Never>?>(nil)

    init(session: CoreSession) { self.session = session }

    func log(_ level: LaunchGuard.Level, _ message: String) { session.log(level, message) }

    func setReport(_ body: @escaping Report) { report.withLock { $0 = body } }

    /// Any thread of the core: a report is due.
    func startReport(_ count: Int, _ reports: [LaunchGuard.Report], _ done: CoreCompletion) {
        guard let body = report.withLock({ $0 }) else { return done.answer(.ok) }
        Task.detached {
            done.answer(await self.outcome(of: "report") { try await body(count, reports) })
        }
    }

    /// Any thread of the core: one attempt of a repair.
    func startRepair(_ body: Body, _ done: CoreCompletion) {
        let task = Task.detached {
            done.answer(await self.outcome(of: "repair \"\(body.name)\"", body.run))
        }
        // An attempt that is still there has timed out.
        repair.withLock { repair in
            repair?.cancel()
            repair = task
        }
    }

    /// The launch has moved on: an attempt that is still there has timed out.
    func cancelRepair() {
        repair.withLock { repair in
            repair?.cancel()
            repair = nil
        }
    }

    /// The thread of the launch: run a task and wait for its end.
    func runTask(_ body: Body) -> LaunchGuardError.Code {
        let answer = Answer()
        Task.detached {
            answer.give(await self.outcome(of: "task \"\(body.name)\"", body.run))
        }
        return answer.wait()
    }

    /// Any thread of the core: the status changed.
    func statusChanged(_ status: LaunchGuard.Status) {
        if status != .repairing { cancelRepair() }
        statuses.publish(status)
    }

    private func outcome(of what: String, _ run: () async throws -> Void) async -> LaunchGuardError.Code {
        do {
            try await run()
            return .ok
        } catch {
            log(.error, "\(what) failed: \(error)")
            return .failed
        }
    }
}
