import Dispatch
import Glibc
import LaunchGuard
import LaunchGuardGuards
import Testing

/// Events are counted by the place in the program: that of the call, or that which made what met
/// the fault.
@Suite struct OwnerSiteTests {
    final class Owner: Sendable {}

    enum Kind: String, CaseIterable, Codable, Sendable {
        case removed, outlived, timer, resumed, released, called

        @inline(never) func commitHere() {
            commit()
            pass()
        }

        @inline(never) func commitThere() {
            commit()
            pass()
        }

        /// The place is in its caller.
        @inline(__always) private func commit() {
            let list = Observers<Int>()
            switch self {
            case .removed: list.remove(Owner())
            case .outlived:
                do { list.add(Owner()) { _, _ in } }
                list.post(1)
            case .timer:
                let timer = GuardedTimer(owner: Owner(), every: .milliseconds(1), on: .global()) { _ in }
                while !timer.isCancelled { usleep(5000) }
            case .resumed:
                let source = GuardedSource(OwnerFault.ticks(Journal()))
                source.resume()
                source.resume()
                source.cancel()
            case .released: _ = GuardedSource(OwnerFault.ticks(Journal()))
            case .called: MainActor.assumeIsolatedGuarded {}
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
                for _ in 0..<3 { kind.commitHere() }
                kind.commitThere()
            }
            session.guards.stop()
            for _ in 0..<4000 where !(counts.all.contains("3") && Set(sites.all).count == 2) { usleep(5000) }
            expect(Set(sites.all).count == 2, "\(sites.all) \(counts.all)")
            expect(counts.all.contains("3") && !counts.all.contains("4"), "\(sites.all) \(counts.all)")
        }
        #expect(try !scene.told().isEmpty)
    }
}

/// Keeps the calls before it from being the last of their function.
@inline(never) private func pass() { usleep(0) }
