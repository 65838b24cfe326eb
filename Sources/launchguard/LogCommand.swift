import ArgumentParser
import LaunchGuardReports

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// `launchguard log`
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Print the breadcrumbs of a run, or follow those of a living process.",
        discussion: """
            EXAMPLES
              launchguard log
              launchguard log -n 50 -p warning /var/lib/notes
              launchguard log -f /var/lib/notes
              launchguard log --category network --category disk
              launchguard log --json 00000012-6b1f9f1e.lgrun | jq -r .text
            """
    )

    @Argument(help: "A run file, or a state directory: its newest run.", completion: .file())
    var target: String?

    @Flag(name: [.customShort("f"), .customLong("follow")], help: "Go on printing new breadcrumbs until the process is gone.")
    var follow = false

    @Option(name: [.customShort("n"), .customLong("lines")], help: ArgumentHelp("Only the last breadcrumbs.", valueName: "count"))
    var lines: Int?

    @Option(
        name: [.customShort("p"), .customLong("priority")],
        help: ArgumentHelp(
            "Only breadcrumbs of this level or above: trace, debug, info, notice, warning, error, critical, or a number.",
            valueName: "level"),
        transform: parseLevel)
    var level: Level?

    @Option(name: .customLong("category"), help: ArgumentHelp("Only breadcrumbs of this category. May be repeated.", valueName: "name"))
    var categories: [String] = []

    @OptionGroup var runs: RunOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard lines ?? 0 >= 0 else { throw ValidationError("-n needs a number that is not negative.") }
    }

    func run() throws {
        let path = try Target(target, run: runs.run).newestRun()
        let reader = try Reader(path: path)
        let run = try reader.run()
        var news = News()
        let isAlive = reader.isAlive
        let breadcrumbs = try reader.breadcrumbs(of: run)
        let entries = news.take(breadcrumbs.entries).filter(isWanted)
        show(entries.suffix(lines ?? entries.count))
        if let overwritten = breadcrumbs.overwritten {
            Output.complain("\(path): \(overwritten)")
        }
        if breadcrumbs.torn > 0 {
            Output.complain("\(path): \(breadcrumbs.torn) breadcrumbs were not committed or are damaged")
        }
        if let unknown = breadcrumbs.unknown {
            Output.complain("\(path): \(unknown) breadcrumbs are of a kind that this version does not know")
        }
        if follow {
            try wait(for: reader, run, isAlive, &news)
        } else if entries.isEmpty {
            Output.complain("\(path): no such breadcrumb")
            try ExitStatus.nothingFound.end()
        }
        if run.isDamaged { try ExitStatus.damaged.end() }
    }

    private func isWanted(_ entry: Breadcrumb) -> Bool {
        (level.map { entry.level >= $0 } ?? true) && (categories.isEmpty || entry.category.map(categories.contains) ?? false)
    }

    private func show(_ entries: some Sequence<Breadcrumb>) {
        var writer = Output.makeWriter()
        for entry in entries {
            if output.json {
                Output.writeLine(json: entry)
            } else {
                entry.write(to: &writer)
            }
        }
        Output.write(writer.text)
    }

    /// Look every 100 ms. The last look comes after the end of the process, so that it misses no
    /// breadcrumb.
    private func wait(for reader: Reader, _ run: RunReport, _ wasAlive: Bool, _ news: inout News) throws {
        var isAlive = wasAlive
        while isAlive {
            usleep(100_000)
            isAlive = reader.isAlive
            show(news.take(try reader.breadcrumbs(of: run).entries).filter(isWanted))
        }
        let ended = try Reader(path: reader.path).run()
        Output.complain("\(reader.path): \(ended.headline)" + (ended.verdict.map { "; \($0.evidence)" } ?? ""))
    }
}

private func parseLevel(_ text: String) throws -> Level {
    guard let level = Level(text) else { throw ValidationError("'\(text)' is neither the name of a level nor a number.") }
    return level
}

/// Separates new breadcrumbs from those seen before. Sequences grow within a lane, but an entry may
/// be committed after a later one.
private struct News {
    private var seen: [UInt32: Set<UInt64>] = [:]

    /// The entries that were in no snapshot before.
    mutating func take(_ entries: [Breadcrumb]) -> [Breadcrumb] {
        let new = entries.filter { seen[$0.lane, default: []].insert($0.sequence).inserted }
        // Overwritten entries do not return.
        let oldest = Dictionary(entries.map { ($0.lane, $0.sequence) }, uniquingKeysWith: min)
        for (lane, sequence) in oldest { seen[lane] = seen[lane]?.filter { $0 >= sequence } }
        return new
    }
}
