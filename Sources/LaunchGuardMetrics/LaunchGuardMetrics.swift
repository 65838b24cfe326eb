#if Metrics
public import CoreMetrics
public import LaunchGuard
internal import Synchronization

/// Shows how a program lives to the backend of swift-metrics.
///
/// ```swift
/// let session = try Session.start(appID: "org.example.server")
/// let metrics = LaunchGuardMetrics(session)
/// Task { await metrics.run() }
/// ```
///
/// | label | is | dimension |
/// |---|---|---|
/// | `launchguard.launches` | meter: launches since the ledger was made | `context` |
/// | `launchguard.crashes` | meter: launch crashes since then | `context` |
/// | `launchguard.repairs` | meter: attempts of repairs since then | `context` |
/// | `launchguard.streak` | meter: launch crashes in a row | `context` |
/// | `launchguard.launch.duration` | timer: begin of this launch to its finish | `context` |
/// | `launchguard.log.dropped` | counter: breadcrumbs that found no room in the ring log | |
///
/// The values come from the files of the session. A launch has them from its begin on. A session
/// without files shows nothing.
public final class LaunchGuardMetrics: Sendable {
    private let session: Session
    private let factory: any MetricsFactory
    private let shown = Mutex(Shown())

    private struct Shown {
        /// Contexts whose duration is recorded.
        var finished: Set<String> = []
        var dropped: UInt64 = 0
    }

    /// - Parameters:
    ///   - session: of the process.
    ///   - factory: of the backend; by default that of `MetricsSystem.bootstrap`.
    public init(_ session: Session, factory: any MetricsFactory = MetricsSystem.factory) {
        self.session = session
        self.factory = factory
    }

    /// Show the values again and again, until the task is cancelled.
    public func run(every interval: Duration = .seconds(10)) async {
        repeat { update() } while await wait(interval)
    }

    /// Show the values now.
    public func update() {
        guard let figures = session.figures else { return }
        shown.withLock { shown in
            for (info, nanoseconds) in figures.launches {
                let context = [("context", info.name)]
                set("launches", info.launches, context)
                set("crashes", info.crashes, context)
                set("repairs", info.repairs, context)
                set("streak", UInt64(info.streak), context)
                if let nanoseconds, shown.finished.insert(info.name).inserted {
                    Timer(label: "launchguard.launch.duration", dimensions: context, factory: factory).recordNanoseconds(nanoseconds)
                }
            }
            let dropped = max(figures.refusedBreadcrumbs, shown.dropped)
            Counter(label: "launchguard.log.dropped", factory: factory).increment(by: dropped - shown.dropped)
            shown.dropped = dropped
        }
    }

    private func set(_ name: String, _ value: UInt64, _ dimensions: [(String, String)]) {
        Meter(label: "launchguard." + name, dimensions: dimensions, factory: factory).set(value)
    }

    /// - Returns: false when the task was cancelled.
    private func wait(_ interval: Duration) async -> Bool {
        do { try await Task.sleep(for: interval) } catch { return false }
        return true
    }
}
#endif
