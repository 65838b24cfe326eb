import ArgumentParser
import LaunchGuardReportModel
import ToolRun

/// The target of a command: one file, or a state directory.
enum Target {
    case file(String)
    case directory(StateDirectory)

    /// The target that the argument names, or without an argument the default state directory, of a
    /// command that changes it.
    init(_ argument: String?) throws {
        try self.init(argument == nil ? [.directory(Self.usualDirectory())] : Self.all(argument), argument)
    }

    /// The only one of the targets; with a number, that run of the directory.
    fileprivate init(_ targets: [Target], _ argument: String?, run: UInt64? = nil) throws {
        guard targets.count == 1 else {
            let names = targets.prefix(20).map { "\n  " + TextWriter.escaped($0.path) }.joined()
            let more = targets.count > 20 ? "\n  and \(targets.count - 20) more" : ""
            throw ValidationError("\(argument ?? Self.recordsFolder ?? "") holds \(targets.count) state directories; name one of them:\(names + more)")
        }
        self = targets[0]
        guard let run else { return }
        guard case .directory(let directory) = self else { throw ValidationError("--run needs a state directory.") }
        self = .file(try directory.runPath(ordinal: run))
    }

    private var path: String {
        switch self {
        case .file(let path): path
        case .directory(let directory): directory.path
        }
    }

    /// The targets that the argument names: at least one, and more than one only for a folder or a
    /// tarball with several state directories. Without an argument the default state directory, or
    /// else all that `launchguard run` has made.
    static func all(_ argument: String?) throws -> [Target] {
        guard let argument else {
            do {
                return [.directory(try usualDirectory())]
            } catch {
                guard let folder = recordsFolder else { throw error }
                let directories = StateDirectory.all(in: folder, levels: 1)
                guard !directories.isEmpty else { throw error }
                return directories.map { .directory($0) }
            }
        }
        let unpacked = try Tarball.unpack(argument)
        let path = unpacked ?? argument
        guard try ReportPath.isFolder(path) == true else {
            return [.file(path)]
        }
        let directory = StateDirectory(path: path)
        if try directory.exists { return [.directory(directory)] }
        // A tarball holds nothing else; a folder may hold a whole disk.
        let directories = StateDirectory.all(in: path, levels: unpacked == nil ? 2 : 16)
        if directories.isEmpty {
            let others = unpacked == nil ? "no folder in it is one, down to two levels: name a deeper one" : "no folder in it is one"
            Output.complain("\(path): not a state directory, as it holds neither ledger.lg nor runs, and \(others)")
            throw ExitStatus.nothingFound.code
        }
        return directories.map { .directory($0) }
    }

    private static var recordsFolder: String? {
        #if os(Linux)
        RecordsFolder.path()
        #else
        nil
        #endif
    }

    private static func usualDirectory() throws -> StateDirectory {
        if let path = Output.variable("STATE_DIRECTORY")?.split(separator: ":").first {
            return StateDirectory(path: String(path))
        }
        if try ReportPath.isFolder("ledger.lg") == false { return StateDirectory(path: ".") }
        throw ValidationError(
            "No state directory is known: name one, set STATE_DIRECTORY, or change to a directory that holds ledger.lg.")
    }

    /// The state directory, for a command that needs one.
    func stateDirectory(for command: String) throws -> StateDirectory {
        switch self {
        case .directory(let directory):
            return directory
        case .file(let path):
            let kind = try Reader(path: path).kind
            throw ValidationError("\(path) is a \(kind == .run ? "run file" : "ledger"); \(command) needs a state directory.")
        }
    }

    /// The file itself, or the newest run of the directory.
    func newestRun() throws -> String {
        switch self {
        case .file(let path):
            return path
        case .directory(let directory):
            guard let path = try directory.runPaths().last else {
                Output.complain("\(directory.path): no run has been recorded here")
                throw ExitStatus.nothingFound.code
            }
            return path
        }
    }
}

/// A run of a state directory.
struct RunOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The run with this number, of a state directory.", valueName: "number"))
    var run: UInt64?

    @Option(
        defaultAsFlag: Last.newest, parsing: .next,
        help: ArgumentHelp("The newest run of a state directory, or of all in a folder; with an end, such as crash, the newest run that ended so.", valueName: "end"))
    var last: Last?

    /// The value of `--last`: the option may stand alone, before the target.
    enum Last: ExpressibleByArgument, CustomStringConvertible {
        case newest
        case end(RunEnd)
        case target(String)

        init?(argument: String) {
            self = RunEnd(rawValue: argument).map { $0 == .noRun ? .newest : .end($0) } ?? .target(argument)
        }

        var description: String { "the newest" }
    }

    /// Whether no run is named.
    var isWhole: Bool { run == nil && last == nil }

    func validate() throws {
        guard run == nil || last == nil else { throw ValidationError("--last and --run name two runs.") }
    }

    /// The target with the run that the options name.
    func target(_ argument: String?) throws -> Target {
        var argument = argument
        if case .target(let word)? = last {
            guard argument == nil else { throw ValidationError("--last: \(word) is no end of a run.\(Suggestion.text(for: word, among: RunEnd.allCases.map(\.rawValue)))") }
            argument = word
        }
        let targets = try Target.all(argument)
        guard let last else { return try Target(targets, argument, run: run) }
        let directories = try targets.map { target in
            guard case .directory(let directory) = target else { throw ValidationError("--last needs a state directory.") }
            return directory
        }
        let runs = try directories.compactMap { directory in
            guard case .end(let end) = last else { return try directory.runPaths().last.map { ListedRun.report($0, [:], withFingerprint: false) } }
            return try directory.lastRun(where: { $0 == end }, try? directory.ledger())
        }
        func start(_ run: RunReport) -> UInt64 { run.identity?.started?.nanoseconds ?? 0 }
        guard let newest = runs.max(by: { start($0) < start($1) }) else {
            let place = directories.count == 1 ? directories[0].path : "\(directories.count) state directories"
            let problem = if case .end(let end) = last { "no run here has the end \(end.rawValue)" } else { "no run has been recorded here" }
            Output.complain("\(place): \(problem)")
            throw ExitStatus.nothingFound.code
        }
        return .file(newest.path)
    }
}

extension StateDirectory {
    /// The newest run that ended so, with the end that a list shows; nil: there is none.
    func lastRun(where isWanted: (RunEnd) -> Bool, _ ledger: LedgerReport?) throws -> RunReport? {
        let timeline = Dictionary((ledger?.timeline ?? []).map { ($0.uuid, $0) }) { first, _ in first }
        for path in try runPaths().reversed() {
            var report = ListedRun.report(path, timeline, withFingerprint: false)
            report.verdict = report.identity.flatMap { timeline[$0.uuid]?.verdict } ?? report.verdict
            if let verdict = report.verdict, isWanted(verdict.end) { return report }
        }
        return nil
    }
}
