import Dispatch
import Foundation
import LaunchGuard
import LaunchGuardGuards
import Testing
import TestSupport

@Suite struct ConfinementTests {
    /// In programs of their own, as a test does not own the main thread.
    @Test(arguments: ["runloop", "dispatch", "unserved"])
    func theMainActorIsKnownWhoeverServesIt(how: String) throws {
        let scene = try Scene()
        defer { scene.remove() }
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "confinement-probe")
        process.arguments = [scene.directory, how]
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(said)")
    }

    /// Calls go on when the main actor has time again, in their order.
    @Test func aMainActorThatIsBusyIsTold() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            let session = try scene.start(), events = Journal(), journal = Journal(), goOn = DispatchSemaphore(value: 0)
            var configuration = Guards.Configuration()
            configuration.policy = .survive
            configuration.onEvent = { events.add($0.text) }
            try session.guards.start(configuration)
            DispatchQueue.main.async { goOn.wait() }
            for number in 1...3 {
                OwnerFault.elsewhere { MainActor.assumeIsolatedGuarded { journal.add("\(number)") } }
            }
            try await waitUntil("the main actor is told to be busy") { events.all.contains { $0.hasPrefix("the main actor has served nothing for 2 s") } }
            expect(journal.all.isEmpty)
            goOn.signal()
            try journal.wait(for: 3)
            expect(journal.all == ["1", "2", "3"], "\(journal.all)")
        }
        #expect(try scene.told().contains("the main actor has served nothing for 2 s, and calls that were sent to it wait"))
    }

    @Test @MainActor func aConfinedValueIsChangedAndRead() {
        let rows = MainConfined<[Int]>([])
        touch(rows)
        #expect(rows.read { $0 } == [1])
    }

    nonisolated private func touch(_ rows: MainConfined<[Int]>) { rows.update { $0.append(1) } }

    @Test func anErrorReachesTheReader() async {
        struct Oops: Error {}
        await MainActor.run {
            func read() { #expect(throws: Oops.self) { try MainConfined(1).read { _ in throw Oops() } } }
            read()
        }
    }

    // MARK: Not claimed

    /// The end of the value is where its last reference goes away.
    @Test func theEndOfAConfinedValueIsAnywhere() async throws {
        final class Row: Sendable {
            let journal: Journal
            init(_ journal: Journal) { self.journal = journal }
            deinit { journal.add("ended on the main actor: \(isOnMainActor())") }
        }
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .success) { [scene = scene as Scene] in
            _ = try scene.startGuarded()
            let journal = Journal()
            OwnerFault.elsewhere { _ = MainConfined(Row(journal)) }
            expect(journal.all == ["ended on the main actor: false"], "\(journal.all)")
        }
        #expect(try scene.told().isEmpty)
    }
}
