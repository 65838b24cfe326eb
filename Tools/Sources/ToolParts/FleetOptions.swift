package import ArgumentParser

// The commands of launchguard-fleet, as both programs know them: the tool has their help and their
// completions, and starts the other program for the work.

/// `launchguard collect`
package struct CollectOptions: ParsableArguments {
    package static let command = CommandConfiguration(
        commandName: "collect",
        abstract: "Read the state directories of many devices into a database.",
        discussion: """
            Each argument is a state directory, a folder that holds some, up to six levels down, or a tarball. The database is \
            SQLite; docs/FLEET.md has its tables, for queries by hand and for Datasette. Only its owner may read it.

            To collect again is harmless. A run is one row, by its UUID. A run that lived when it was collected, and has ended since, \
            is brought up to date; a run that its device has pruned stays.

            The device of a run is the one that --device names, or else the machine id in the run, or else the name of the argument. \
            A machine id that was collected under a name belongs to that name from then on. Machines that were copied from one image \
            share their machine id; collect says so where it shows, and --device-from takes their names from the paths.

            What cannot be read is named, and hides nothing else. The exit status is 3 if a file is damaged.

            EXAMPLES
              launchguard collect --into fleet.db /srv/devices
              launchguard collect --into fleet.db device-*.tar.gz
              launchguard collect --into fleet.db --device kiosk-17 kiosk.tar.gz
              launchguard collect --into fleet.db --device-from name /srv/devices/*
              launchguard collect --into fleet.db --device-from '/srv/devices/{device}' /srv/devices
            """
    )

    @Argument(help: "State directories, folders of some, or tarballs.", completion: .file())
    package var sources: [String]

    @Option(help: ArgumentHelp("The database; it is made where it is missing.", valueName: "path"), completion: .file())
    package var into: String

    @Option(help: ArgumentHelp("The device that all of it is of. Default: the machine id in each run, or else the name of the argument.", valueName: "name"))
    package var device: String?

    @Option(
        help: ArgumentHelp(
            "Where the device's name is from: machine, the machine id; name, the name of the argument; or a path with {device} in it. Default: machine.",
            valueName: "machine|name|pattern"))
    package var deviceFrom: String?

    @Option(
        help: ArgumentHelp(
            "Also write all rows: as lines of JSON into a folder, one file a table, or into PostgreSQL by psql, where this begins with postgres://.",
            valueName: "folder|address"), completion: .directory)
    package var to: String?

    @OptionGroup package var symbols: SymbolOptions
    @OptionGroup package var output: OutputOptions

    package init() {}

    package func validate() throws {
        // SQLite takes no name for a file that it removes at the end.
        guard !into.isEmpty else { throw ValidationError("The database needs a name: --into fleet.db.") }
        guard !sources.isEmpty else { throw ValidationError("Name at least one state directory, folder or tarball.") }
        guard device?.isEmpty != true else { throw ValidationError("A device needs a name: --device kiosk-17.") }
        guard device == nil || deviceFrom == nil else { throw ValidationError("--device and --device-from both say whose the runs are.") }
        if let deviceFrom, deviceFrom != "machine", deviceFrom != "name", DevicePattern(deviceFrom) == nil {
            throw ValidationError("--device-from needs machine, name, or a path with {device} in it once, for example '/srv/{device}/var'.")
        }
    }
}

/// `launchguard top`
package struct TopOptions: ParsableArguments {
    package static let command = CommandConfiguration(
        commandName: "top",
        abstract: "Show what most devices of a fleet suffer from.",
        discussion: """
            Runs that crashed, hung, ran out of memory, were killed, ended with a status other than 0 or without a trace, grouped by \
            bug: on how many devices, how many runs, in which versions, a trend of the last 14 days, and what happened in one of \
            them, and where. The last day is that of the newest run. Before them stands which share of the runs of each version did \
            not crash.

            A week is called worse or better than the one before only where chance is no good explanation: where 1 is outside of the \
            99 % interval of how many times as often devices had the bug on a day.

            --version A..B compares two versions: what is new in B, what is gone, and what a larger or smaller share of the runs died \
            of than chance explains.

            Bugs that were muted, or resolved and not seen again, are left out, and counted at the end.

            EXAMPLES
              launchguard top fleet.db
              launchguard top -n 5 --app org.example.notes fleet.db
              launchguard top --version 1.4.1..1.4.2 fleet.db
              launchguard top --json fleet.db | jq 'select(.devices > 10)'
              launchguard top --html fleet.db >fleet.html
              launchguard top --pages fleet fleet.db
            """
    )

    @OptionGroup package var fleet: FleetFile

    @Option(name: [.customShort("n"), .customLong("lines")], help: ArgumentHelp("Only the first ones. Default: all.", valueName: "count"))
    package var lines: Int?

    @Option(help: ArgumentHelp("Only this application. Default: all.", valueName: "id"))
    package var app: String?

    @Option(name: .customLong("version"), help: ArgumentHelp("Compare two versions.", valueName: "A..B"))
    package var versions: String?

    @Flag(help: "Muted and resolved bugs too.")
    package var all = false

    @Flag(help: "Print a page of HTML, one file without a script.")
    package var html = false

    @Option(help: ArgumentHelp("Write pages of HTML into this folder: index.html, and a page for each bug and for its example.", valueName: "folder"), completion: .directory)
    package var pages: String?

    @OptionGroup package var output: OutputOptions

    package init() {}

    package func validate() throws {
        guard lines ?? 1 > 0 else { throw ValidationError("-n needs a number above 0.") }
        guard [html, output.json, pages != nil].count(where: { $0 }) < 2 else { throw ValidationError("--html, --pages and --json name different formats.") }
        if versions != nil, pair == nil { throw ValidationError("--version needs two versions, for example 1.4.1..1.4.2.") }
    }

    /// The versions to compare.
    package var pair: (old: String, new: String)? {
        guard let versions, let range = versions.firstRange(of: "..") else { return nil }
        let (old, new) = (versions[..<range.lowerBound], versions[range.upperBound...])
        return old.isEmpty || new.isEmpty ? nil : (String(old), String(new))
    }
}

/// `launchguard show`
package struct ShowOptions: ParsableArguments {
    package static let command = CommandConfiguration(
        commandName: "show",
        abstract: "Show a bug of a fleet: its best example, where it happens, and what its runs have in common.",
        discussion: """
            The best example is the run whose record has the most parts. A bug is named by its key or by a fingerprint of its runs, \
            of which the first digits are enough, as top shows them.

            EXAMPLES
              launchguard show 3fa2c9d1e0b7 fleet.db
              launchguard show --html 3fa2c9d1e0b7 fleet.db >crash.html
            """
    )

    @Argument(help: "The key or a fingerprint, or its first digits, four or more.")
    package var bug: BugDigits

    @OptionGroup package var fleet: FleetFile

    @Flag(help: "Print a page of HTML, one file without a script.")
    package var html = false

    @OptionGroup package var output: OutputOptions

    package init() {}

    package func validate() throws {
        guard !html || !output.json else { throw ValidationError("--html and --json name different formats.") }
    }
}

/// First digits of the key or of a fingerprint of a bug.
package struct BugDigits: ExpressibleByArgument, Sendable {
    package let digits: String

    package init?(argument: String) {
        digits = argument.lowercased()
        guard (4...32).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { return nil }
    }
}
