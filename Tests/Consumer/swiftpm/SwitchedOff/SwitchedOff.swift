import LaunchGuard
import LaunchGuardLogging
import LaunchGuardService

// The uses that the README shows, with the protocols of the packages that are not there.
protocol LogHandler {}
protocol Service {}

func bootstrap(_ factory: (String) -> [any LogHandler]) {}
func run(services: [any Service]) {}

func use(_ session: LaunchGuard.Session, _ launch: LaunchGuard.Launch) throws {
    _ = try LaunchGuard.start(appID: "org.example.consumer", onLog: LaunchGuardLogHandler.forward())
    bootstrap { label in [LaunchGuardLogHandler(label: label, session: session)] }
    run(services: [LaunchGuardService(session, launch) { try await Task.sleep(for: .seconds(1)) }])
    _ = LaunchGuardService(session)
}
