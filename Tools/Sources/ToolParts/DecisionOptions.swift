package import ArgumentParser

// What a person decides of a bug of a fleet. It is kept when runs are collected again.

/// `launchguard resolve`
package struct ResolveOptions: ParsableArguments {
    package static let command = CommandConfiguration(
        commandName: "resolve",
        abstract: "Say that a bug of a fleet is resolved, and in which version.",
        discussion: """
            top leaves the bug out until a run of that version or of a later one has it, and says then that it was seen again. \
            Versions are compared by their numbers, or by when they were first seen where they do not begin with one. Without --in, a \
            run that begins later than now counts.

            EXAMPLES
              launchguard resolve 3fa2c9d1e0b7 --in 2.4 fleet.db
              launchguard resolve --undo 3fa2c9d1e0b7 fleet.db
            """
    )

    @Argument(help: "The key or a fingerprint, or its first digits, four or more.")
    package var bug: BugDigits

    @OptionGroup package var fleet: FleetFile

    @Option(name: .customLong("in"), help: ArgumentHelp("The first version that has it resolved.", valueName: "version"))
    package var version: String?

    @Flag(help: "Take that back.")
    package var undo = false

    package init() {}

    package func validate() throws {
        guard version?.isEmpty != true else { throw ValidationError("A version needs a name: --in 2.4.") }
        guard version == nil || !undo else { throw ValidationError("--undo takes no version.") }
    }
}

/// `launchguard mute`
package struct MuteOptions: ParsableArguments {
    package static let command = CommandConfiguration(
        commandName: "mute",
        abstract: "Leave a bug of a fleet out of top.",
        discussion: """
            EXAMPLES
              launchguard mute 3fa2c9d1e0b7 fleet.db
              launchguard mute --undo 3fa2c9d1e0b7 fleet.db
            """
    )

    @Argument(help: "The key or a fingerprint, or its first digits, four or more.")
    package var bug: BugDigits

    @OptionGroup package var fleet: FleetFile

    @Flag(help: "Take that back.")
    package var undo = false

    package init() {}
}

/// `launchguard merge`
package struct MergeOptions: ParsableArguments {
    package static let command = CommandConfiguration(
        commandName: "merge",
        abstract: "Say that two bugs of a fleet are one.",
        discussion: """
            The runs of the second bug count as those of the first from then on, those of later collects too.

            EXAMPLES
              launchguard merge 3fa2c9d1e0b7 91c04be2aa10 fleet.db
              launchguard merge --undo 3fa2c9d1e0b7 91c04be2aa10 fleet.db
            """
    )

    @Argument(help: "The bug that stays: its key or a fingerprint, or its first digits, four or more.")
    package var bug: BugDigits

    @Argument(help: "The bug that is the same.")
    package var other: BugDigits

    @OptionGroup package var fleet: FleetFile

    @Flag(help: "Take that back.")
    package var undo = false

    package init() {}
}
