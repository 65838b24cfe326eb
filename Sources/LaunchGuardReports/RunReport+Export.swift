internal import LaunchGuardReportModel

extension RunReport {
    /// A format that other programs read. `docs/EXPORT.md` says what each holds.
    public enum Format: String, Sendable, CaseIterable {
        /// ``RunReport/json``.
        case json
        /// ``RunReport/text(breadcrumbs:)``.
        case text
        /// ``RunReport/html(launches:)``.
        case html
        /// For systemd-journal-remote, which makes a journal of it.
        case journal
        /// A line of JSON in the shape of the Swift runtime's crash log.
        case swift
        /// For lldb, WinDbg, Sentry, Socorro and other readers of minidumps.
        case minidump
    }

    /// All that the file holds, as one line of JSON: what `launchguard inspect --json` prints but
    /// for the names of functions.
    public var json: String { JSONLine.text(contents) }

    /// The report for a person: the cause first, then its evidence, then everything else.
    ///
    /// - Parameter breadcrumbs: number of the breadcrumbs, and of the lines of standard error, that
    ///   are shown: the newest.
    public func text(breadcrumbs: Int = 20) -> String {
        var writer = TextWriter()
        contents.write(to: &writer, breadcrumbLimit: breadcrumbs)
        return writer.text
    }

    /// The report as a page: one file that loads nothing, with the breadcrumbs on a time axis.
    ///
    /// - Parameter launches: the ledger of the state directory, for the launches before and after
    ///   the run, and the ladder of repairs.
    public func html(launches: LedgerReport? = nil) -> String {
        HTMLPage(contents, ledger: launches?.contents).text
    }

    /// The report in a format. Redacted values leave in none.
    ///
    /// - Throws: ``Failure`` with ``Failure/Code/format`` where the format is for crashes and the
    ///   run had none; those of a file, for a minidump, which needs the file at ``path``.
    public func export(_ format: Format) throws(Failure) -> [UInt8] {
        switch format {
        case .json: return Array(json.utf8)
        case .text: return Array(text().utf8)
        case .html: return Array(html().utf8)
        case .journal: return JournalExport(contents).bytes
        case .swift:
            guard let log = SwiftCrashLog(contents) else { throw Failure(path: path, format: "a crash log", lacks: "there is no record of a crash") }
            return Array(log.text.utf8)
        case .minidump: return try minidump()
        }
    }

    private func minidump() throws(Failure) -> [UInt8] {
        let reader: Reader
        do throws(ReportError) {
            reader = try Reader(path: path)
        } catch {
            throw Failure(error)
        }
        do throws(MinidumpProblem) {
            return try reader.minidump { _ in contents }.bytes
        } catch {
            switch error {
            case .noStack: throw Failure(path: path, format: "a minidump", lacks: "there are no stacks")
            case .unknownProcessor: throw Failure(path: path, format: "a minidump", lacks: "the processor is not known")
            case .tooLarge: throw Failure(path: path, format: "a minidump", lacks: "it would be larger than 4 GiB")
            case .unreadable(let error): throw Failure(error)
            }
        }
    }
}
