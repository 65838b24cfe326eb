import Dispatch
import Glibc
import LaunchGuard
import LaunchGuardGuards
import LaunchGuardObservers
import Testing
import TestSupport

/// Lists of types: a guard asks them about its owner's type. Each owner here is gone, and the
/// reported events say which of them were guarded.
@Suite struct OwnerTypeTests {
    class Player: @unchecked Sendable {}
    class Video: Player, @unchecked Sendable {}
    final class Film: Video, @unchecked Sendable {}
    final class Radio: Sendable {}

    /// Ways to use the lists, and the types that are then guarded.
    enum Lists: String, CaseIterable, Codable, Sendable {
        case none, denied, allowed, deniedBelowAllowed, allowedBelowDenied, forgotten, deniedLater

        var guarded: Set<String> {
            switch self {
            case .none, .forgotten: ["Player", "Video", "Film", "Radio"]
            case .denied, .deniedLater: ["Player", "Radio"]
            case .allowed: ["Video", "Film"]
            case .deniedBelowAllowed: ["Video"]
            case .allowedBelowDenied: []
            }
        }

        func set(_ guards: Guards) {
            switch self {
            case .none, .deniedLater: break
            case .denied: guards.deny(Video.self)
            case .allowed: guards.allow(Video.self)
            case .deniedBelowAllowed:
                guards.allow(Video.self)
                guards.deny(Film.self)
            case .allowedBelowDenied:
                guards.allow(Film.self)
                guards.deny(Video.self)
            case .forgotten:
                guards.deny(Player.self)
                guards.allow(Radio.self)
                guards.forgetTypes()
            }
        }
    }

    @Test(arguments: Lists.allCases, ["Player", "Video", "Film", "Radio"])
    func holdForATypeWithItsSubclasses(lists: Lists, owner: String) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        let isGuarded = lists.guarded.contains(owner)
        await #expect(processExitsWith: isGuarded ? .success : .signal(SIGABRT)) { [lists = lists as Lists, owner = owner as String, scene = scene as Scene] in
            let session = try scene.startGuarded()
            lists.set(session.guards)
            let list = Observers<Int>()
            // As its superclass: the type of the object itself counts.
            func add(_ owner: Player) { list.add(owner) { _, _ in } }
            switch owner {
            case "Player": add(Player())
            case "Video": add(Video())
            case "Film": add(Film())
            default: list.add(Radio()) { _, _ in }
            }
            if lists == .deniedLater { session.guards.deny(Video.self) }
            list.post(1)
        }
        #expect(try scene.told() == (isGuarded ? ["an event reaches an observer whose owner, \(owner), is gone owner=\(owner) event=Int"] : []))
    }

    @Test func holdForTheOwnersOfTimers() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGABRT)) { [scene = scene as Scene] in
            let session = try scene.startGuarded()
            session.guards.deny(Player.self)
            let timer = GuardedTimer(owner: Radio(), every: .milliseconds(1), on: .global()) { _ in }
            try await waitUntil("the timer ends") { timer.isCancelled }
            GuardedTimer(owner: Film(), every: .milliseconds(1), on: .global()) { _ in }
            stay()
        }
        #expect(try scene.told() == ["a timer fires whose owner, Radio, is gone owner=Radio"])
    }

    @Test func holdForConfinedValuesAndSources() async throws {
        let scene = try Scene()
        defer { scene.remove() }
        await #expect(processExitsWith: .signal(SIGILL)) { [scene = scene as Scene] in
            let session = try scene.startGuarded()
            session.guards.deny(Video.self)
            let number = MainConfined(1), video = MainConfined(Film())
            OwnerFault.elsewhere { expect(number.read { $0 } == nil) }
            session.log(.info, "survived")
            OwnerFault.elsewhere { expect(video.read { _ in true } == nil) }
        }
        #expect(try scene.told() == ["a confined value is read off the main actor"])
    }
}
