import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReports

// The commands that keep a database are a program of their own, as a device has no use for it.

/// `launchguard collect`
struct CollectCommand: ParsableCommand {
    static let configuration = CollectOptions.command
    @OptionGroup var options: CollectOptions

    func run() throws { try FleetProgram.become() }
}

/// `launchguard top`
struct TopCommand: ParsableCommand {
    static let configuration = TopOptions.command
    @OptionGroup var options: TopOptions

    func run() throws { try FleetProgram.become() }
}

/// `launchguard show`
struct ShowCommand: ParsableCommand {
    static let configuration = ShowOptions.command
    @OptionGroup var options: ShowOptions

    func run() throws { try FleetProgram.become() }
}

/// `launchguard-fleet`, which takes the command line as it is.
private enum FleetProgram {
    static func become() throws -> Never {
        guard let path = ProgramBeside.path("launchguard-fleet") else {
            Output.complain("launchguard-fleet is not installed, which does this; it is part of the package of the tool, and belongs beside launchguard or in libexec/launchguard")
            throw ExitStatus.nothingFound.code
        }
        // A thread of Swift blocks signals, and those of the terminal have to reach the program.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        _ = unsafe Path.withCString(path) { unsafe execv($0, CommandLine.unsafeArgv) }
        Output.complain("\(path): it cannot be started: \(unsafe String(cString: strerror(errno)))")
        throw ExitStatus.nothingFound.code
    }
}
