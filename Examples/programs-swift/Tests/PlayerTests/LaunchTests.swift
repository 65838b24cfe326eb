import Foundation
import LaunchGuard
import Testing

@testable import player

/// The program's own launch is walked through crashes, without a crash.
@Suite struct LaunchTests {
    private static func folder(_ order: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "player-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try order.write(to: folder.appending(path: "order"), atomically: true, encoding: .utf8)
        return folder.path
    }

    @MainActor
    @Test(arguments: [true, false])
    func theUserIsAskedAfterTwoCrashes(_ agrees: Bool) async throws {
        let folder = try Self.folder("a.ogg\nb.ogg\n")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let window = Window(userAgrees: agrees)
        let simulation = try Simulation()
        defer { simulation.close() }
        let player = Player(library: Library(folder: folder), window: window)
        let launch = player.prepareLaunch(on: simulation.session)
        for _ in 1...2 {
            #expect(await launch.begin().problem == nil)
            #expect(await launch.waitUntilLaunched().problem == nil)
            simulation.end(.crash)
        }
        #expect(await launch.begin().problem == nil)
        #expect(await launch.waitUntilLaunched(timeout: .seconds(20)).problem == nil)
        launch.finish()
        #expect(launch.status == .finished)
        #expect(await player.songCount == (agrees ? 0 : 2))
        #expect(window.lines.contains("reset library? \(agrees ? "yes" : "no")"))
        #expect(window.lines.contains("one moment, please"))
    }

    @MainActor
    @Test func aHealthyLaunchAsksNothing() async throws {
        let folder = try Self.folder("a.ogg\n")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let window = Window(userAgrees: true)
        let simulation = try Simulation()
        defer { simulation.close() }
        let launch = Player(library: Library(folder: folder), window: window).prepareLaunch(on: simulation.session)
        #expect(await launch.begin().problem == nil)
        #expect(await launch.waitUntilLaunched().problem == nil)
        #expect(window.lines == ["1 songs"])
    }
}
