import ArgumentParser
import LaunchGuardReports

/// `launchguard verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the bounds and checksums of every block of a file.",
        discussion: """
            The exit status is 3 if a block is damaged. A block that was never committed, because the process ended before, is \
            incomplete and not damaged.

            EXAMPLES
              launchguard verify /var/lib/notes/ledger.lg
              launchguard verify --json 00000012-6b1f9f1e.lgrun | jq -r 'select(.status == "damaged") | .name'
            """
    )

    @Argument(help: "A run file or a ledger.", completion: .file())
    var file: String

    @OptionGroup var output: OutputOptions

    func run() throws {
        guard try Path.isFolder(file) != true else {
            throw ValidationError("\(file) is a directory; verify needs a run file or a ledger.")
        }
        let reader = try Reader(path: file)
        let (isWhole, blocks) = reader.verify()
        if output.json {
            for block in blocks { Output.writeLine(json: block) }
        } else {
            var writer = Output.makeWriter()
            let width = blocks.map(\.name.count).max() ?? 0
            for block in blocks {
                writer.add(block.status, width: 12, block.status == "ok" ? .green : block.status == "damaged" ? .red : .yellow)
                writer.add(block.name, width: width + 2)
                writer.line(block.detail)
            }
            writer.line(isWhole ? "\(file): whole" : "\(file): damaged", isWhole ? .green : .red)
            Output.write(writer.bytes)
        }
        try (isWhole ? ExitStatus.success : .damaged).end()
    }
}
