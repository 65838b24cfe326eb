// With the other files Reader+… the only place of this library that names the C reader.
internal import CLaunchGuard

/// An open run file or ledger, of a dead or a living process. It reads, and never disturbs the
/// writer.
///
/// One thread at a time may use it.
@safe
public final class Reader {
    public let path: String
    public let kind: Kind
    let handle: OpaquePointer

    /// What kind of file it is.
    public enum Kind: String, Codable, Sendable {
        case run, ledger
    }

    /// Open a regular file; a link is not followed. A byte of the path that is no part of UTF-8 is
    /// written as the character U+10FF00 plus the byte.
    public init(path: String) throws(ReportError) {
        var opened: OpaquePointer?
        let status = unsafe ReportPath.withCString(path) { unsafe lg_reader_open($0, &opened) }
        guard status == LG_OK, let opened = unsafe opened else {
            throw CLibrary.error(status, path: path)
        }
        self.path = path
        unsafe handle = opened
        kind = unsafe lg_reader_kind(opened) == LG_FILE_LEDGER ? .ledger : .run
    }

    deinit {
        unsafe lg_reader_close(handle)
    }

    // MARK: - Run file

    /// Everything that the run file holds.
    ///
    /// - Parameter includingMemory: whether the bytes of the stacks are in the report too: they are
    ///   many, and they hold what the program worked on. Without them, redacted values are blanked
    ///   in the few bytes that each record has around its stack pointer.
    public func run(includingMemory: Bool = false) throws(ReportError) -> RunReport {
        var problems = Problems()
        var report = try parts(of: .all, includingMemory: includingMemory, &problems)
        report.fingerprint = report.verdict?.end == .running ? nil : fingerprint
        if !includingMemory { blankSecrets(in: &report) }
        do throws(ReportError) {
            report.breadcrumbs = try breadcrumbs(of: report)
            if report.breadcrumbs?.entries.contains(where: { $0.isDamaged == true }) == true { problems.add("ring log", LG_ERR_DAMAGED) }
        } catch {
            problems.add("ring log", lg_status(rawValue: error.code.rawValue))
        }
        report.problems = problems.found
        return report
    }

    /// What the run was and how it ended: without breadcrumbs, annotations, heartbeats, deadlines,
    /// standard error, the sites of guard events and the fingerprint, and without modules where no
    /// stack needs them. Whether these parts are there and within bounds is checked all the same.
    public func summary() throws(ReportError) -> RunReport {
        var problems = Problems()
        var report = try parts(of: .summary, includingMemory: false, &problems)
        _ = problems.isUsable(unsafe lg_reader_log_check(handle), "ring log")
        report.problems = problems.found
        return report
    }

    /// The fingerprint of the end; nil: the identity cannot be read.
    public var fingerprint: String? { fingerprint(of: nil) }

    /// The same for the end that the ledger of the run's machine has, which may have seen more.
    /// C: `lg_reader_fingerprint_of()`.
    public func fingerprint(endedAs verdict: Verdict) -> String? {
        let end = (0..<UInt32(RunEnd.allCases.count + 1)).first { unsafe String(cString: lg_end_name(lg_end(rawValue: $0))) == verdict.end.rawValue }
        guard let end, let evidence = verdict.evidenceKind.flatMap(Evidence.allCases.firstIndex) else { return fingerprint }
        return fingerprint(
            of: lg_verdict(
                end: lg_end(rawValue: end), evidence: lg_evidence(rawValue: UInt32(evidence)), signal: verdict.signal?.number ?? 0, code: verdict.exitCode ?? 0,
                kind: lg_crash_kind(rawValue: 0), monotonic_ns: verdict.monotonicNanoseconds ?? 0))
    }

    private func fingerprint(of end: lg_verdict?) -> String? {
        var digits = [CChar](repeating: 0, count: 33)
        let status: lg_status
        if var end {
            status = unsafe lg_reader_fingerprint_of(handle, &end, &digits)
        } else {
            status = unsafe lg_reader_fingerprint(handle, &digits)
        }
        guard status == LG_OK else { return nil }
        return String(decoding: digits.prefix(32).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private enum Extent {
        case all, summary
    }

    /// All but the ring log.
    private func parts(of extent: Extent, includingMemory: Bool, _ problems: inout Problems) throws(ReportError) -> RunReport {
        guard kind == .run else { throw ReportError(code: .state, path: path) }
        var report = RunReport(path: path)
        var info = lg_run_info()
        if problems.isUsable(unsafe lg_reader_run(handle, &info), "identity") {
            report.identity = RunIdentity(&info)
            report.contexts = problems.list("contexts", limit: info.context_count) { index, context in
                unsafe lg_reader_run_context(handle, index, &context)
            } as: { RunContext(&$0) }
        }
        report.system = system(&problems)
        var verdict = lg_verdict()
        if problems.isUsable(unsafe lg_reader_verdict(handle, &verdict), "verdict") {
            report.verdict = Verdict(verdict)
        }
        var crashCount: UInt32 = 0
        let counted = unsafe lg_reader_crash_count(handle, &crashCount)
        let mayHaveCrash = counted != LG_OK || crashCount > 0
        let hasSnapshot = hasSnapshot
        let needsModules = extent == .all || mayHaveCrash || hasSnapshot
        let modules = problems.list("modules", limit: needsModules ? 65536 : 1) { index, module in
            unsafe lg_reader_module(handle, index, &module)
        } as: { RunModule(&$0) }
        report.modules = modules.isEmpty || !needsModules ? nil : modules
        _ = problems.isUsable(counted, "brief records")
        if mayHaveCrash { addCrashes(to: &report, crashCount, includingMemory: includingMemory, &problems) }
        let annotations = annotations(of: report, &problems)
        let standardError = standardError(&problems)
        if extent == .all {
            report.annotations = annotations
            report.standardError = standardError
            addPulse(to: &report, &problems)
        } else {
            var heart = lg_heart_info()
            _ = problems.isUsable(unsafe lg_reader_heart(handle, 0, &heart), "pulse")
        }
        if hasSnapshot { addSnapshots(to: &report, &problems) }
        report.guards = guards(of: report, withSites: extent == .all, &problems)
        report.guards?.redact(redaction())
        return report
    }

    private var hasSnapshot: Bool {
        var info = lg_snapshot_info()
        return [LG_SNAPSHOT_HANG, LG_SNAPSHOT_DEADLINE, LG_SNAPSHOT_MEMORY].contains { unsafe lg_reader_snapshot(handle, $0, &info) != LG_ERR_NOT_FOUND }
    }

    /// Whether the process of the run is alive now; false when the file does not show it.
    public var isAlive: Bool {
        var info = lg_run_info()
        return unsafe lg_reader_run(handle, &info) == LG_OK && info.alive != 0
    }

    /// The process of the run: its number, its start in clock ticks since boot, and when the run
    /// began, on the monotonic clock; nil when the file does not show it, or is not yet that of the
    /// run in its name.
    public var process: (id: Int32, startTicks: UInt64, moment: UInt64)? {
        var info = lg_run_info()
        guard unsafe lg_reader_run(handle, &info) == LG_OK, path.hasSuffix(string(&info.uuid) + ".lgrun") else { return nil }
        return (info.pid, info.start_ticks, info.monotonic_ns)
    }
}

extension Reader {
    /// Version of the C library in use, for example "0.1.0". C: `lg_version()`.
    public static var libraryVersion: String { unsafe String(cString: lg_version()) }
}
