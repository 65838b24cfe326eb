import ArgumentParser
import LaunchGuard
import LaunchGuardReportModel

/// `launchguard reset`
struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget the trouble of a program that was repaired from outside: streak, repairs used, safe mode, suspects.",
        discussion: """
            The next launch is a normal one. Totals, timeline and run files stay. The program must not run.

            EXIT STATUS
              0  done
              1  there is no ledger or no such context, or the file may not be written
              2  the command line is wrong
              3  the ledger is damaged
              6  a process of the program lives

            EXAMPLES
              launchguard reset /var/lib/notes
              launchguard reset /var/lib/notes sync
            """
    )

    @Argument(help: "The state directory.", completion: .directory)
    var directory: String

    @Argument(help: "The context: a launch of the program by its name; by default all of them.")
    var context: String?

    func run() throws {
        let directory = try Target(self.directory).stateDirectory(for: "reset")
        do throws(LaunchGuardError) {
            try Launch.reset(context, stateDirectory: directory.path)
        } catch {
            let words: String? =
                switch error.code {
                case .notFound: context.map { "there is no context \"\($0)\"" } ?? "there is no ledger"
                case .secondary: "a process of the program lives; end it first"
                default: nil
                }
            throw CallFailure.exitCode(directory, error, words)
        }
    }
}
