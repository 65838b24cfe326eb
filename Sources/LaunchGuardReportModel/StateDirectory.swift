/// The state directory of an application: its ledger and the files of its runs.
public struct StateDirectory: Hashable, Sendable {
    public var path: String

    public init(path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The ledger.
    public var ledgerPath: String { path + "/ledger.lg" }

    /// The program that the directory belongs to, of programs that `launchguard run` names itself;
    /// nil: the directory has none.
    public var program: String? { ReportPath.target(ofLink: path + "/.program") }

    /// Whether the directory looks like one of LaunchGuard's.
    public var exists: Bool {
        get throws(ReportError) {
            if try ReportPath.isFolder(ledgerPath) != nil { return true }
            return try ReportPath.isFolder(path + "/runs") != nil
        }
    }

    /// The state directories in a folder, which may be one itself, and in its folders up to some
    /// levels down, in the order of their names. Links are not followed, and a folder that may not
    /// be read hides no other.
    public static func all(in folder: String, levels: Int) -> [StateDirectory] {
        let directory = StateDirectory(path: folder)
        let isOne = (try? ReportPath.isFolder(directory.ledgerPath)) == false || (try? directory.runPaths())?.isEmpty == false
        guard levels > 0, let names = try? ReportPath.names(in: folder) else { return isOne ? [directory] : [] }
        let own: Set = [".", "..", "runs", "spool"]
        let folders = names.filter { !own.contains($0) }.sorted().map { directory.path + "/" + $0 }
        return (isOne ? [directory] : []) + folders.filter { (try? ReportPath.owner(ofFolder: $0)) != nil }.flatMap { all(in: $0, levels: levels - 1) }
    }

    /// The run files, oldest first. A directory that is not there has none.
    public func runPaths() throws(ReportError) -> [String] {
        let folder = path + "/runs"
        let names = try ReportPath.names(in: folder) ?? []
        return names.filter { $0.hasSuffix(".lgrun") }
            .map { (ordinal: Self.ordinal(of: $0), name: $0) }
            .sorted { ($0.ordinal, $0.name) < ($1.ordinal, $1.name) }
            .map { folder + "/" + $0.name }
    }

    /// The file of the run with a number.
    public func runPath(ordinal: UInt64) throws(ReportError) -> String {
        guard let path = try runPaths().first(where: { Self.ordinal(of: $0.lastPathPart) == ordinal }) else {
            throw ReportError(code: .notFound, path: "\(path)/runs/\(ordinal)-*.lgrun")
        }
        return path
    }

    /// The number that a run file's name starts with.
    private static func ordinal(of name: String) -> UInt64 {
        UInt64(name.prefix { $0.isASCII && $0.isNumber }) ?? 0
    }

    /// The ledger with the runs that it has not counted yet, and with the launches that the last
    /// run has finished since the ledger was written. Without a ledger, the runs alone.
    ///
    /// Run files that cannot be read become problems, and hide no other file.
    public func ledger() throws(ReportError) -> LedgerReport {
        var report = LedgerReport(path: ledgerPath)
        do throws(ReportError) {
            let reader = try Reader(path: ledgerPath)
            reader.takeLastRun(in: path)
            report = try reader.ledger()
        } catch {
            report.problems.append(Problem(part: "ledger", code: error.code.name, message: error.message))
        }
        let known = Dictionary(report.timeline.indices.map { (report.timeline[$0].uuid, $0) }) { first, _ in first }
        let oldest = report.timeline.map(\.ordinal).min() ?? 0
        for path in try runPaths() {
            do throws(ReportError) {
                let run = try Reader(path: path).summary()
                guard let entry = UncountedRun(run) else {
                    report.problems += run.problems.map { .init(part: path.lastPathPart, code: $0.code, message: $0.message) }
                    continue
                }
                if let index = known[entry.uuid] {
                    report.timeline[index].finished = run.contexts?.filter { $0.phase == .finished }.map(\.name)
                } else if entry.ordinal >= oldest {
                    report.uncounted.append(entry)
                }
            } catch {
                report.problems.append(Problem(part: path.lastPathPart, code: error.code.name, message: error.message))
            }
        }
        return report
    }
}
