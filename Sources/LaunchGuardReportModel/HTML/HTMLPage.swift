/// One run as a page for people: a single file of HTML that loads nothing, runs without a script,
/// and may be sent to anybody to whom the text report may be sent.
///
/// The page says what the text report says, in the same words, and draws what a text cannot: the
/// launches before and after the run, the ladder of repairs, the breadcrumbs on a time axis, the
/// memory map. A browser may show the page from a disk or a mail: a policy in the page itself
/// forbids every connection, every style and every script but its own. Everything that comes from
/// a file is escaped: a control character or a character that changes the direction of text is
/// shown as ``TextWriter/escaped(_:)`` writes it.
///
/// A page is a value; several threads may make pages at once.
public struct HTMLPage: Sendable {
    /// The run. Its frames have functions and lines only if those were looked up before.
    public var run: RunReport
    /// The ledger of the run's state directory; nil: the page shows no launches and no ladder.
    public var ledger: LedgerReport?
    /// The reports in the spool of this run; see ``StateDirectory/deliveries()``.
    public var deliveries: [DeliveryEntry]
    /// The number of breadcrumbs and lines of standard error that are shown, the newest ones. A
    /// page of 10,000 breadcrumbs is some 2 MB.
    public var breadcrumbLimit: Int
    /// The time against which throttled repairs are measured.
    public var now: Timestamp

    /// What a fleet knows of it; nil: it is a page by itself.
    public var fleet: Fleet?

    /// How often the bug of the run was seen, and the pages of the same folder about that.
    public struct Fleet: Sendable {
        public var words: String
        /// Names of files.
        public var bug: String
        public var index: String

        public init(words: String, bug: String, index: String) {
            self.words = words
            self.bug = bug
            self.index = index
        }
    }

    public init(
        _ run: RunReport, ledger: LedgerReport? = nil, deliveries: [DeliveryEntry] = [], fleet: Fleet? = nil, breadcrumbLimit: Int = 10_000, now: Timestamp = .now
    ) {
        self.fleet = fleet
        self.run = run
        self.ledger = ledger
        self.deliveries = deliveries
        self.breadcrumbLimit = breadcrumbLimit
        self.now = now
    }

    /// The page, in UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The same as bytes.
    public var bytes: [UInt8] {
        var sections = HTMLWriter()
        writeSections(to: &sections)
        var page = HTMLWriter()
        page.markup("<!DOCTYPE html>\n")
        page.element("html", ["lang": "en"]) {
            writeHead(to: &$0)
            $0.element("body") { page in
                page.element("a", ["class": "skip", "href": "#content"], "Skip to the report")
                writeHeader(to: &page)
                Self.writeNavigation(sections.sections, to: &page)
                page.element("main", ["id": "content"]) { $0.append(sections) }
                page.element("footer") { $0.element("p", [:], "Written by LaunchGuard. This page is one file and loads nothing.") }
                page.element("script") { $0.markup(HTMLScript.text) }
            }
        }
        page.endLine()
        return page.bytes
    }

    private func writeHead(to page: inout HTMLWriter) {
        page.element("head") {
            $0.open("meta", ["charset": "utf-8"])
            $0.open("meta", ["http-equiv": "Content-Security-Policy", "content": Self.policy])
            $0.open("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
            $0.open("meta", ["name": "color-scheme", "content": "light dark"])
            $0.open("meta", ["name": "referrer", "content": "no-referrer"])
            $0.element("title", [:], title)
            $0.element("style") { $0.markup(HTMLStyle.text) }
        }
        page.endLine()
    }

    /// No connection, and by their digests the one style and the one script of the page.
    static let policy =
        "default-src 'none'; style-src '\(HTMLStyle.digest)'; script-src '\(HTMLScript.digest)'; base-uri 'none'; form-action 'none'"

    private var title: String {
        let program = run.identity.map { "\($0.appID), run \($0.ordinal)" } ?? "Run"
        let headline = run.headline
        return "\(program): \(headline.prefix(100))" + (headline.count > 100 ? "…" : "")
    }

    private func writeHeader(to page: inout HTMLWriter) {
        page.element("header") {
            $0.element("p", ["class": "program"]) {
                $0.element("strong", [:], run.identity?.appID ?? "Unknown program")
                if let version = run.identity?.appVersion { $0.element("span", [:], "version \(version)") }
                if let ordinal = run.identity?.ordinal { $0.element("span", [:], "run \(ordinal)") }
                if let started = run.identity?.started { $0.element("time", ["datetime": started.description], started.secondsText) }
            }
            let isSentence = run.fatalCrash != nil && run.verdict?.end == .crash
            let (end, rest) = isSentence ? ("crashed", run.headline) : run.headline.split(atFirst: ": ")
            $0.element("h1") {
                $0.element("span", ["class": "end " + (run.verdict?.end ?? .unknown).color], end)
                if let rest {
                    $0.element("span", ["class": "hidden"], ": ")
                    $0.element("span", ["class": "cause"], rest)
                }
            }
            if let crash = run.crash, !crash.isRequestedDump { $0.element("p", ["class": "note"], "Signal: \(crash.signalWords)") }
            if let crash = run.crash { crash.writeMessages(to: &$0) }
            run.lastWords?.write(to: &$0)
            if let verdict = run.verdict { $0.element("p", ["class": "evidence"], "Evidence: \(verdict.evidence)") }
            if let fleet { $0.links([(fleet.words, fleet.bug), ("All bugs", fleet.index)]) }
        }
        page.endLine()
    }

    static func writeNavigation(_ sections: [(id: String, title: String)], to page: inout HTMLWriter) {
        page.element("nav", ["aria-label": "Parts of the report"]) {
            $0.element("ul") { page in
                for (id, title) in sections {
                    let words = title.prefix { $0 != "," && $0 != ":" && $0 != "\"" }
                    page.element("li") { $0.element("a", ["href": "#\(id)"], words.prefix(32) + (words.count > 32 ? "…" : "")) }
                }
            }
        }
        page.endLine()
    }

    func writeSections(to page: inout HTMLWriter) {
        page.element("div", ["class": "columns"]) {
            $0.element("div", ["class": "story"], writeStory)
            $0.element("aside", ["aria-label": "The run"], writeFacts)
        }
        let own = OwnCode(run)
        for (index, other) in (run.otherCrashes ?? []).enumerated() {
            page.section("crash-\(index + 1)", run.title(of: other).capitalizedFirst) {
                other.writeMessages(to: &$0)
                other.writeStack(to: &$0, own)
            }
        }
        let recorded = run.recordedCrash
        if let recorded { recorded.writeOtherThreads(to: &page, own, at: recorded == run.crash ? nil : recorded.threadID) }
        for (index, snapshot) in (run.snapshots ?? []).enumerated() where index != leadingSnapshot { snapshot.write(to: &page, own, number: index + 1) }
        run.crash?.writeNotes(to: &page)
        if let recorded, let crash = run.crash { recorded.writeMemory(to: &page, of: crash) }
        page.section("guards") { run.guards?.write(to: &$0, from: run.identity?.monotonicNanoseconds ?? 0) }
        page.section("pulse") { run.writePulse(to: &$0) }
        page.section("stderr") { run.standardError?.write(to: &$0, limit: breadcrumbLimit) }
        run.writeModules(to: &page)
        writeProblems("problems", "Not shown", to: &page) { !$0.isDamage }
    }

    private func writeProblems(_ id: String, _ title: String, to page: inout HTMLWriter, where isMeant: (Problem) -> Bool) {
        let lines = run.problems.filter(isMeant).map { "\($0.part): \($0.code): \($0.message)" }
        if !lines.isEmpty { page.section(id, title) { $0.warnings(lines) } }
    }

    /// For a run without a crash: the stacks of the hang that ended it, or of another condition
    /// that had not passed at its end.
    private var leadingSnapshot: Int? {
        guard run.crash == nil, let snapshots = run.snapshots else { return nil }
        return run.hang.flatMap(snapshots.firstIndex) ?? snapshots.lastIndex { $0.resolvedNanoseconds == nil }
    }

    /// The first sections for a person: damage, place of the crash or hang, the way there, and the
    /// launches around it.
    private func writeStory(to page: inout HTMLWriter) {
        writeProblems("damage", "Damaged", to: &page, where: \.isDamage)
        let own = OwnCode(run)
        run.crash?.writeThread(to: &page, own)
        if let leadingSnapshot { run.snapshots?[leadingSnapshot].write(to: &page, own, number: leadingSnapshot + 1) }
        BreadcrumbSection(run, limit: breadcrumbLimit)?.write(to: &page)
        if let ledger { LaunchSection(ledger, of: run, now: now).write(to: &page) }
    }

    private func writeFacts(to page: inout HTMLWriter) {
        page.section("facts", "The run") { $0.facts(run.facts(deliveries)) }
        if let annotations = run.annotations, !annotations.isEmpty {
            page.section("annotations", "Annotations") {
                $0.facts(annotations.map { ($0.key, $0.isRedacted ? "(redacted)" : ($0.value ?? "") + ($0.isCut ? " …" : "")) })
            }
        }
        if let lines = run.recordedCrash?.resourceLines, !lines.isEmpty {
            page.section("resources", "Resources") { $0.facts(lines.map { ($0.name, $0.figures) }) }
        }
        run.crash?.writeRegisters(to: &page)
    }
}

extension RunReport {
    fileprivate func writeModules(to page: inout HTMLWriter) {
        guard let modules, !modules.isEmpty else { return }
        page.section("modules", "Modules") {
            $0.folded(UInt64(modules.count).counting("module", "modules")) {
                let lines = modules.map { "\($0.start)–\($0.end)  \($0.path)  \($0.buildID ?? "no build id")" }
                $0.preformatted(lines + [modulesOmittedText].compactMap(\.self))
            }
        }
    }
}

extension RunEnd {
    /// The class of the elements that stand for it.
    var color: String { style.color }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// The text before and after a mark; nil: it has none.
    fileprivate func split(atFirst mark: String) -> (String, String?) {
        guard let range = firstRange(of: mark) else { return (self, nil) }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}
