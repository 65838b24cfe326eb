import Glibc
import LaunchGuard

/// player STATE FOLDER yes|no: plays a library of songs. Everything has an actor of its own. The
/// last word is the user's answer to the question whether the library may be reset.
@main
struct Main {
    @MainActor
    static func main() async throws {
        guard CommandLine.arguments.count == 4 else { fatalError("usage: player STATE FOLDER yes|no") }
        var configuration = Session.Configuration(appID: "org.example.player", version: "1.0")
        configuration.stateDirectory = CommandLine.arguments[1]
        let session = try Session.start(configuration)
        session.watchMainActor()

        let window = Window(userAgrees: CommandLine.arguments[3] == "yes")
        let player = Player(library: Library(folder: CommandLine.arguments[2]), window: window)
        let launch = player.prepareLaunch(on: session)
        var outcome = await launch.begin()  // With .custody it does not wait for the user.
        if case .launched = outcome { outcome = await launch.waitUntilLaunched(timeout: .seconds(30)) }
        if let problem = outcome.problem {
            print("player: \(problem)")
            exit(1)
        }
        launch.finish()
        print("plays \(await player.songCount) songs, \(launch.mode)")
    }
}
