import ArgumentParser
import LaunchGuardReportModel

/// `launchguard verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the bounds and checksums of every block of a file, or of all files of a state directory.",
        discussion: """
            The exit status is 3 if a block is damaged. A block that was never committed, because the process ended before, is \
            incomplete and not damaged.

            In a state directory, LaunchGuard verifies the ledger and each run file: a line for each file with a damage, and one for all of them.

            EXAMPLES
              launchguard verify /var/lib/notes
              launchguard verify device.tar.gz
              launchguard verify /var/lib/notes/ledger.lg
              launchguard verify --json 00000012-6b1f9f1e.lgrun | jq -r 'select(.status == "damaged") | .name'
              launchguard verify --json /var/lib/notes | jq -r 'select(.isWhole | not) | .path'
            """
    )

    @Argument(help: "A run file, a ledger, a state directory, or a tarball of one. Default: $STATE_DIRECTORY, or the current directory, or what launchguard run has made.", completion: .file())
    var target: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let targets = try Target.all(target)
        if case .file(let path) = targets[0] { return try verify(file: path) }
        var status = ExitStatus.success
        for case .directory(let directory) in targets {
            let found = try verify(directory)
            if status != .damaged, found != .success { status = found }
        }
        try status.end()
    }

    private func verify(file path: String) throws {
        let (isWhole, blocks) = try Reader(path: path).verify()
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
            writer.line(isWhole ? "\(path): whole" : "\(path): damaged", isWhole ? .green : .red)
            Output.write(writer.bytes)
        }
        try (isWhole ? ExitStatus.success : .damaged).end()
    }

    private func verify(_ directory: StateDirectory) throws -> ExitStatus {
        let ledger = try ReportPath.isFolder(directory.ledgerPath) == nil ? [] : [directory.ledgerPath]
        let files = (ledger + (try directory.runPaths())).map(VerifiedFile.init)
        if output.json { Output.writeLines(json: files) }
        let damaged = files.count(where: \.isDamaged)
        let unread = files.count { !$0.isWhole && !$0.isDamaged }
        if !output.json {
            var writer = Output.makeWriter()
            for file in files where !file.isWhole { writer.line("\(file.path): \(file.problem)", .red) }
            let counts = [(files.count - damaged - unread, "whole"), (damaged, "damaged"), (unread, "not readable")].filter { $0.0 > 0 }
            writer.add("\(directory.path): ")
            writer.add(files.count == 1 ? "1 file" : "\(files.count) files", damaged + unread == 0 ? .green : .red)
            writer.line(counts.isEmpty ? "" : ", " + counts.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
            Output.write(writer.bytes)
        }
        return damaged > 0 ? .damaged : unread > 0 || files.isEmpty ? .nothingFound : .success
    }
}

/// A file of a state directory, verified.
private struct VerifiedFile: Encodable {
    let schema = RunReport.currentSchema
    let type = "verified-file"
    var path: String
    var isWhole: Bool
    var blocks: [Reader.Block]
    /// Why the file cannot be read; nil: it can.
    var error: String?
    private let isUnread: Bool

    private enum CodingKeys: CodingKey {
        case schema, type, path, isWhole, blocks, error
    }

    init(_ path: String) {
        self.path = path
        do throws(ReportError) {
            (isWhole, blocks) = try Reader(path: path).verify()
            isUnread = false
        } catch {
            (isWhole, blocks, self.error) = (false, [], error.message)
            isUnread = ExitStatus(error) != .damaged
        }
    }

    var isDamaged: Bool { !isWhole && !isUnread }

    /// The problem, for a person.
    var problem: String {
        if let error { return error }
        let names = blocks.filter { $0.status == "damaged" }.map(\.name)
        return "damaged: \(names.prefix(8).joined(separator: ", "))\(names.count > 8 ? " and \(names.count - 8) more" : "")"
    }
}
