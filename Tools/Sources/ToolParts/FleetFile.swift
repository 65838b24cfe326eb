package import ArgumentParser

/// The database of a fleet, for the commands that read one.
package struct FleetFile: ParsableArguments {
    @Argument(help: "The database that launchguard collect made.", completion: .file())
    package var database: String = "fleet.db"

    package init() {}
}
