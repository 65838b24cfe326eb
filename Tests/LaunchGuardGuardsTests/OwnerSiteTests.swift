import Dispatch
import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardObservers
import Testing
import TestSupport

/// Events are counted by the place in the program: that of the call, or that which made what met
/// the fault.
@Suite struct OwnerSiteTests {
    final class Owner: Sendable {}

    enum Kind: String, CaseIterable, Codable, Sendable {
        case removed, outlived, timer, resumed, released, called

        /// Two places in the program. The second one differs, as an optimiser makes one of two that
        /// do not.
        var places: [@Sendable () -> Void] {
            let list = Observers<Int>(), journal = Journal()
            @Sendable func end(_ timer: GuardedTimer) {
                expectWithin("the timer ends") { timer.isCancelled }
            }
            @Sendable func source() -> GuardedSource {
                let source = GuardedSource(OwnerFault.ticks(Journal()))
                source.activate()
                return source
            }
            return switch self {
            case .removed: [{ list.remove(Owner()) }, { if journal.all.isEmpty { list.remove(Owner()) } }]
            case .outlived: [
                {
                    addNobody(to: list)
                    list.post(1)
                },
                {
                    do { list.add(Owner()) { _, _ in } }
                    list.post(1)
                },
            ]
            case .timer: [
                { end(GuardedTimer(owner: Owner(), every: .milliseconds(1), on: .global()) { _ in }) },
                { if journal.all.isEmpty { end(GuardedTimer(owner: Owner(), every: .milliseconds(1), on: .global()) { _ in }) } },
            ]
            case .resumed: [{ source().resume() }, { if journal.all.isEmpty { source().resume() } }]
            case .released: [{ _ = GuardedSource(OwnerFault.ticks(Journal())) }, { if journal.all.isEmpty { _ = GuardedSource(OwnerFault.ticks(Journal())) } }]
            case .called: [{ MainActor.assumeIsolatedGuarded {} }, { if journal.all.isEmpty { MainActor.assumeIsolatedGuarded {} } }]
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func eventsAreCountedByTheirPlace(kind: Kind) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [kind = kind as Kind, scene = scene as Scene] in
            let session = try scene.start(), sites = Journal(), counts = Journal()
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            configuration.onEvent = { event in
                sites.add("\(event.site)")
                counts.add("\(event.count)")
            }
            try session.guards.start(configuration)
            OwnerFault.elsewhere {
                let places = kind.places
                for _ in 0..<3 { places[0]() }
                places[1]()
            }
            session.guards.stop()
            try await waitUntil("the events of both places are told") { counts.all.contains("3") && Set(sites.all).count == 2 }
            expect(!counts.all.contains("4"), "\(sites.all) \(counts.all)")
        }
        #expect(try !scene.told().isEmpty)
    }
}

@inline(never) private func addNobody(to list: Observers<Int>) {
    let owner = OwnerSiteTests.Owner()
    list.add(owner) { _, _ in }
}
