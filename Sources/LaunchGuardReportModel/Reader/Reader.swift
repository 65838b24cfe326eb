// With the other files Reader+… the only place of this library that names the C reader.
internal import CLaunchGuard
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An open run file or ledger, of a dead or a living process. It reads, and never disturbs the
/// writer.
///
/// One thread at a time may use it.
@safe
public final class Reader {
    public let path: String
    public let kind: Kind
    let handle: OpaquePointer

    /// Kind of the file.
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

    // MARK: - Contents

    /// Everything that the run file holds.
    ///
    /// - Parameter includingMemory: whether the bytes of the stacks are in the report too: they are
    ///   many, and they hold what the program worked on. Without them, redacted values are blanked
    ///   in the few bytes that each record has around its stack pointer.
    public func run(includingMemory: Bool = false) throws(ReportError) -> RunReport {
        try contents(.run, memory: includingMemory ? .whole : .few)
    }

    /// The same with the bytes of the stacks, in which redacted values are blanked; without them
    /// where it is not known what is redacted.
    func runWithBlankedMemory() throws(ReportError) -> RunReport {
        try contents(.run, memory: .blanked)
    }

    /// Which bytes of the stacks are in a report. C: `lg_report_options.stack_bytes`.
    private enum Memory: UInt32 {
        case few, whole, blanked
    }

    /// Identity and end of the run, without breadcrumbs, annotations, heartbeats, deadlines, the
    /// sites of guard events and the fingerprint, and without modules where no stack needs them.
    /// The reader still checks that these parts are there and within bounds.
    public func summary(withAnnotations: Bool = false) throws(ReportError) -> RunReport {
        try contents(
            .run,
            without: LG_REPORT_BREADCRUMBS | LG_REPORT_PULSE | LG_REPORT_GUARD_SITES | LG_REPORT_FINGERPRINT | LG_REPORT_SPARE_MODULES
                | (withAnnotations ? 0 : LG_REPORT_ANNOTATIONS))
    }

    /// Lets ``ledger()`` show launches as finished that the last run finished after the ledger was
    /// written. C: `lg_reader_ledger_last_run()`.
    func takeLastRun(in stateDirectory: String) {
        _ = unsafe ReportPath.withCString(stateDirectory) { unsafe lg_reader_ledger_last_run(handle, $0) }
    }

    /// Everything that the ledger holds.
    public func ledger() throws(ReportError) -> LedgerReport {
        try contents(.ledger)
    }

    /// The JSON that the C library writes, as a value of the model. C: `lg_reader_report()`.
    private func contents<Contents: FileContents>(_ kind: Kind, without parts: UInt32 = 0, memory: Memory = .few) throws(ReportError) -> Contents {
        guard self.kind == kind else { throw ReportError(code: .state, path: path) }
        let text = Text()
        var options = unsafe lg_report_options()
        unsafe options.size = UInt32(MemoryLayout<lg_report_options>.size)
        unsafe options.left_out = parts
        unsafe options.stack_bytes = memory.rawValue
        let status = withExtendedLifetime(text) {
            unsafe lg_reader_report(
                handle, &options,
                { bytes, size, user in
                    guard let bytes = unsafe bytes, let user = unsafe user else { return 1 }
                    let text = unsafe Unmanaged<Text>.fromOpaque(user).takeUnretainedValue()
                    unsafe text.bytes.append(UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: size)
                    return 0
                },
                Unmanaged.passUnretained(text).toOpaque())
        }
        guard status == LG_OK else { throw CLibrary.error(status, path: path) }
        do {
            var contents = try JSONDecoder().decode(Contents.self, from: text.bytes)
            contents.path = path
            return contents
        } catch {
            throw ReportError(code: .damaged, path: path)
        }
    }

    private final class Text {
        var bytes = Data()
    }

    /// The fingerprint of the end; nil: the identity cannot be read.
    public var fingerprint: String? { fingerprint(of: nil) }

    /// The same for the end that the ledger of the run's machine has, which may have seen more.
    /// C: `lg_reader_fingerprint_of()`.
    public func fingerprint(endedAs verdict: Verdict) -> String? {
        guard let end = verdict.end.core, let evidence = verdict.evidenceKind.flatMap(Evidence.allCases.firstIndex) else { return fingerprint }
        return fingerprint(
            of: lg_verdict(
                end: end, evidence: lg_evidence(rawValue: UInt32(evidence)), signal: verdict.signal?.number ?? 0, code: verdict.exitCode ?? 0,
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
    /// The digest of the lines of a bug key. C: `lg_bug_key_digest()`.
    static func bugKeyDigest(_ lines: String) -> String {
        var digits = [CChar](repeating: 0, count: 33)
        unsafe lg_bug_key_digest(lines, lines.utf8.count, &digits)
        return String(decoding: digits.prefix(32).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// A path as reports that leave the machine have it: `~` for a home directory at its start. C:
    /// `lg_path_without_home()`.
    public static func pathWithoutHome(_ path: String) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: path.utf8.count + 2) { buffer in
            unsafe path.withCString { unsafe String(cString: lg_path_without_home($0, buffer.baseAddress, buffer.count)) }
        }
    }

    /// Version of the C library in use, for example "0.1.0". C: `lg_version()`.
    public static var libraryVersion: String { unsafe String(cString: lg_version()) }
}

/// The contents of a file, which know where they came from.
private protocol FileContents: Decodable {
    var path: String { get set }
}

extension RunReport: FileContents {}
extension LedgerReport: FileContents {}
