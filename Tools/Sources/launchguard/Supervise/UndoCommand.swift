import ArgumentParser
import LaunchGuard
import LaunchGuardReportModel

/// `launchguard undo`
struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Put back the files that a program kept copies of before its repairs changed them.",
        discussion: """
            Each file gets its place as a whole, with its mode, owner and time. A file that a repair
            made where there was nothing is deleted. Other files stay, and so do the copies, until a
            launch of the program is good. End the program before, and make the call as its user.

            EXIT STATUS
              0  done
              1  nothing is kept, or not all files are back
              2  the command line is wrong
              3  the ledger is damaged

            EXAMPLES
              launchguard undo --list /var/lib/notes
              sudo -u notes launchguard undo /var/lib/notes
            """
    )

    @Argument(help: "The state directory.", completion: .directory)
    var directory: String

    @Argument(help: "The context: a launch of the program by its name; by default all of them.")
    var context: String?

    @Flag(help: "Only list the paths, and change nothing.")
    var list = false

    func run() throws {
        let directory = try Target(self.directory).stateDirectory(for: "undo")
        let contexts = try context.map { [$0] } ?? directory.ledger().contexts.map(\.name)
        var paths: [KeptPath] = []
        do throws(LaunchGuardError) {
            paths = try KeptPath.all(in: directory, contexts)
            if !list { for context in Set(paths.map(\.context)) { try Launch.undo(context, stateDirectory: directory.path) } }
        } catch {
            let words = error.code == .owner ? "the copies are another user's; make the call as that user, for example with sudo -u" : nil
            throw CallFailure.exitCode(directory, error, words)
        }
        for path in paths { Output.write("\(list ? "" : "back: ")\(path.text)\n") }
        guard paths.isEmpty else { return }
        Output.complain("\(directory.path): no copies of files are kept")
        throw ExitStatus.nothingFound.code
    }
}
