import ArgumentParser
import LaunchGuardPlatform
import LaunchGuardReportModel

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
              launchguard log --last crash /var/lib/notes
              launchguard log --category network --category disk
              launchguard log --json 00000012-6b1f9f1e.lgrun | jq -r .text
            """
    )

    @Argument(help: "A run file, or a state directory or a tarball of one: its newest run. Default: $STATE_DIRECTORY, or the current directory, or what launchguard run has made.", completion: .file())
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
        let path = try runs.target(target).newestRun()
        let reader = try Reader(path: path)
        let run = try reader.summary()
        var news = News()
        let isAlive = reader.isAlive
        // The options are slow to ask, and there may be hundreds of thousands of entries.
        let (isWanted, follow, lines) = (filter, follow, lines)
        var page = Page(isJSON: output.json)
        var last: [Breadcrumb] = []
        var isEmpty = true
        var isDamaged = false
        let breadcrumbs = try reader.breadcrumbs(of: run) { entry in
            isDamaged = isDamaged || entry.isDamaged == true
            if follow { news.add(entry) }
            guard isWanted(entry) else { return }
            isEmpty = false
            if lines == nil { page.add(entry) } else { last.append(entry) }
        }
        for entry in last.suffix(lines ?? 0) { page.add(entry) }
        page.end()
        if let overwritten = breadcrumbs.overwritten {
            Output.complain("\(path): \(overwritten)")
        }
        for loss in breadcrumbs.losses {
            Output.complain("\(path): \(loss)")
        }
        if follow {
            news.begin(overwritten: breadcrumbs.overwrittenEntries)
            try wait(for: reader, run, isAlive, &news)
        } else if isEmpty {
            Output.complain("\(path): no such breadcrumb")
            try ExitStatus.nothingFound.end()
        }
        if run.isDamaged || isDamaged { try ExitStatus.damaged.end() }
    }

    /// Whether an entry is to be shown, by the options.
    private var filter: (Breadcrumb) -> Bool {
        let (level, categories) = (level, categories)
        return { entry in
            (level.map { entry.level >= $0 } ?? true) && (categories.isEmpty || entry.category.map(categories.contains) ?? false)
        }
    }

    /// Look every 100 ms. The last look comes after the end of the process, so that it misses no
    /// breadcrumb.
    private func wait(for reader: Reader, _ run: RunReport, _ wasAlive: Bool, _ news: inout News) throws {
        let isWanted = filter
        var page = Page(isJSON: output.json)
        var isAlive = wasAlive
        while isAlive {
            usleep(100_000)
            isAlive = reader.isAlive
            let breadcrumbs = try reader.breadcrumbs(of: run)
            let new = news.take(breadcrumbs.entries)
            let missed = news.missed(overwritten: breadcrumbs.overwrittenEntries)
            if missed > 0 {
                page.end()
                Output.complain("\(reader.path): missed \(missed) breadcrumb\(missed == 1 ? "" : "s"): overwritten before they were read")
            }
            for entry in new where isWanted(entry) { page.add(entry) }
            page.end()
        }
        let ended = try Reader(path: reader.path).run()
        Output.complain("\(reader.path): \(ended.headline)" + (ended.verdict.map { "; \($0.evidence)" } ?? ""))
    }
}

private func parseLevel(_ text: String) throws -> Level {
    guard let level = Level(text) else { throw ValidationError("'\(text)' is neither the name of a level nor a number.") }
    return level
}

/// Breadcrumbs on their way out, in batches.
private struct Page {
    private var writer = Output.makeWriter()
    private var lines: [UInt8] = []
    private let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    mutating func add(_ entry: Breadcrumb) {
        if isJSON { JSONLine.append(entry, to: &lines) } else { entry.write(to: &writer) }
        if lines.count + writer.bytes.count >= Output.batchSize { end() }
    }

    /// Write what is left.
    mutating func end() {
        Output.write(isJSON ? lines : writer.bytes)
        lines.removeAll(keepingCapacity: true)
        writer.removeAll()
    }
}

/// Separates new breadcrumbs from those seen before. Sequences grow within a lane, but an entry may
/// be committed after a later one.
private struct News {
    private var seen: [UInt32: Set<UInt64>] = [:]
    /// Entries that were ever seen, or were overwritten before the first snapshot, or were missed.
    private var known: UInt64 = 0
    /// Entries of the last snapshot.
    private var present: UInt64 = 0

    /// An entry of the first snapshot.
    mutating func add(_ entry: Breadcrumb) {
        seen[entry.lane, default: []].insert(entry.sequence)
        present += 1
    }

    /// After the first snapshot.
    mutating func begin(overwritten: UInt64) {
        known = overwritten + present
    }

    /// How many entries were written and overwritten between the last two snapshots, and were in
    /// neither.
    mutating func missed(overwritten: UInt64) -> UInt64 {
        let written = overwritten + present
        let missed = written > known ? written - known : 0
        known += missed
        return missed
    }

    /// The entries that were in no snapshot before.
    mutating func take(_ entries: [Breadcrumb]) -> [Breadcrumb] {
        let new = entries.filter { seen[$0.lane, default: []].insert($0.sequence).inserted }
        known += UInt64(new.count)
        present = UInt64(entries.count)
        // Overwritten entries do not return.
        let oldest = Dictionary(entries.map { ($0.lane, $0.sequence) }, uniquingKeysWith: min)
        for (lane, sequence) in oldest { seen[lane] = seen[lane]?.filter { $0 >= sequence } }
        return new
    }
}
