import LaunchGuard
import LaunchGuardLogging
import LaunchGuardMetrics
import LaunchGuardService

// The uses that the guide shows, with the protocols of the packages that are not there.
protocol LogHandler {}
protocol Service {}

func bootstrap(_ factory: (String) -> [any LogHandler]) {}
func run(services: [any Service]) {}

func use(_ session: Session, _ launch: Launch) {
    var configuration = Session.Configuration(appID: "org.example.consumer")
    configuration.onLog = LaunchGuardLogHandler.forward()
    bootstrap { label in [LaunchGuardLogHandler(label: label, session: session)] }
    run(services: [LaunchGuardService(launch) { try Task.checkCancellation() }])
    _ = LaunchGuardService(watching: session)
    LaunchGuardMetrics(session).update()
}
