import Foundation
@testable import LaunchGuardReportModel
import Testing

@Suite struct HTMLPageTests {
    private static let evil = "<evil a='b' c=\"d\">&lt;\u{1B}[31m\u{202E}\u{2028}\n"

    private func page(_ run: RunReport, _ ledger: LedgerReport? = nil) -> String {
        HTMLPage(run, ledger: ledger, now: Timestamp(nanoseconds: 1_769_860_000_000_000_000)).text
    }

    /// The report with everything that a run can leave: also other crashes, snapshots, guards.
    private func whole() throws -> RunReport {
        var run = try Sample.surrounded()
        var other = try #require(run.crash)
        other.isBrief = true
        other.sequence = 2
        run.otherCrashes = [other]
        run.annotations = [Annotation(key: "document", value: "letter.txt"), Annotation(redacted: "token")]
        run.breadcrumbs?.entries[0].category = "network"
        run.breadcrumbs?.entries[0].fields = [.init(key: "url", value: "x"), .init(key: "token", value: nil)]
        run.crash?.stackDisagreement = "a frame pointer may hold any value"
        run.problems = [.init(part: "messages", code: "damaged", message: "a checksum is wrong"), .init(part: "process", code: "incomplete", message: "it was not committed")]
        return run
    }

    @Test func theSectionsStandInOrder() throws {
        let text = try page(whole(), Sample.ledger())
        #expect(
            text.matches(of: #/<(section|h1|h2|h3)( id="([a-z0-9-]+)")?/#).compactMap { $0.3.map(String.init) ?? ($0.1 == "h3" ? "h3" : nil) } == [
                "damage", "damage-title", "thread", "thread-title", "breadcrumbs", "breadcrumbs-title", "launches", "launches-title", "h3", "facts",
                "facts-title", "annotations", "annotations-title", "resources", "resources-title", "registers", "registers-title", "crash-1",
                "crash-1-title", "threads", "threads-title", "notes", "notes-title", "memory", "memory-title", "stderr", "stderr-title", "modules",
                "modules-title", "problems", "problems-title",
            ])
        #expect(text.contains(#"<h1><span class="end bad">crashed</span><span class="hidden">: </span><span class="cause">no notes in Notes.open() at Notes.swift:42 of org.example.notes</span>"#))
        #expect(text.contains(#"<li class="own"><span>#0</span><code>0x00005581c61b6581</code><p><b>Notes.open()</b> + 129 at Sources/App/Notes.swift:42 of notes</p></li>"#))
        #expect(text.contains("… 90 frames are not stored …"))
        #expect(text.contains(#"<code>url=x</code> <code>token=(redacted)</code>"#) && text.contains("<dt>token</dt><dd>(redacted)</dd>"))
        #expect(text.contains("2 earlier breadcrumbs were overwritten") && text.contains("the next rung"))
        #expect(text.contains("Every run and the evidence for its end") && text.contains("because the run file holds a crash record"))
    }

    /// Each text of the report and of the ledger in turn, as far as a file can say it.
    @Test func nothingFromAFileBecomesMarkup() throws {
        var tried = 0
        for value in [JSONLine.text(try whole()), JSONLine.text(try Sample.ledger())] {
            let object = try JSONSerialization.jsonObject(with: Data(value.utf8))
            for changed in Self.changes(of: object) {
                let json = String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self)
                let run: RunReport? = try? JSONLine.value(from: json)
                let ledger: LedgerReport? = try? JSONLine.value(from: json)
                guard run != nil || ledger != nil else { continue }
                tried += 1
                let text = try page(run ?? Sample.crash(), ledger ?? Sample.ledger())
                #expect(!text.contains("<evil") && !text.contains("a='b'") && !text.contains("c=\"d\""))
                #expect(!text.unicodeScalars.contains { "\u{1B}\u{202E}\u{2028}".unicodeScalars.contains($0) })
            }
        }
        #expect(tried > 80, "texts that a file can set")
        var run = try whole()
        run.breadcrumbs?.entries[0].text = Self.evil
        #expect(page(run).contains("&lt;evil a=&#39;b&#39; c=&quot;d&quot;&gt;&amp;lt;\\x1B[31m\\u{202E}\\u{2028}</bdi>"))
    }

    /// The value with one text replaced, for each of its texts; and with one figure renamed, for
    /// each of the figures, whose names are keys.
    private static func changes(of value: Any) -> [Any] {
        switch value {
        case is String: return [evil]
        case let list as [Any]:
            return list.indices.flatMap { index in
                changes(of: list[index]).map { change in
                    var changed = list
                    changed[index] = change
                    return changed
                }
            }
        case let object as [String: Any]:
            let isNamed = object.values.allSatisfy { ($0 as? [String: Any])?["unit"] != nil }
            let renamed = (isNamed ? Array(object.keys) : []).map { key in
                var changed = object
                changed[evil] = changed.removeValue(forKey: key)
                return changed as Any
            }
            return renamed
                + object.flatMap { key, part in
                    changes(of: part).map { change in
                        var changed = object
                        changed[key] = change
                        return changed as Any
                    }
                }
        default: return []
        }
    }

    @Test func aPageLoadsNothing() throws {
        let text = try page(whole(), Sample.ledger())
        #expect(text.contains(#"<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;"#))
        for word in ["src=", "@import", "url(", "<link", "<base", "style=\"", "onclick"] { #expect(!text.contains(word), "\(word)") }
        #expect(text.matches(of: #/href="([^"]*)"/#).allSatisfy { $0.1.hasPrefix("#") })
    }

    /// Libraries, and runtimes and LaunchGuard that are linked into the program.
    @Test func framesOfOthersAreFolded() throws {
        func frame(_ module: String, _ name: String) -> Frame {
            let address = Address(UInt64(name.count))
            return Frame(address: address, lookup: address, module: module, fileAddress: address, symbols: [Symbol(name: name)])
        }
        var run = try whole()
        let program = try #require(run.modules?.first?.path)
        let others = [frame("/lib/libc.so.6", "raise"), frame(program, "lg__event_end_program"), frame(program, "lg_guard_claim"), frame(program, "std::rethrow()")]
        run.crash?.dwarfStack = Stack(method: .dwarf, frames: others + [frame(program, "open_note")] + others.prefix(1))
        let text = page(run)
        #expect(text.contains("<li class=\"others\"><details><summary>4 frames of libc.so.6, notes</summary><ol><li><span>#0</span>"))
        #expect(text.contains("<li class=\"own\"><span>#4</span><code>0x0000000000000009</code><p><b>open_note</b>"))
        #expect(text.matches(of: /class="others"/).count == 1, "one frame stands as it is")
        run.crash?.dwarfStack = Stack(method: .dwarf, frames: others)
        #expect(!page(run).contains("class=\"others\""), "where nothing is the program's own, all is shown")
    }

    /// A name of a template may have thousands of characters.
    @Test func aLongNameFillsNoScreen() throws {
        let arguments = String(repeating: "std::map<std::string, int (*)(char), std::less<std::string>>, ", count: 50)
        let name = "notes::(anonymous namespace)::Cache<\(arguments)bool>::load(\(arguments)int) const"
        let short = "notes::(anonymous namespace)::Cache<…>::load(…) const"
        var run = try whole()
        run.crash?.dwarfStack = nil
        run.crash?.framePointerStack?.frames[0].symbols = [Symbol(name: name)]
        run.crash?.messages = nil
        run.crash?.message = String(repeating: "word ", count: 200)
        #expect(run.headline.contains("… in \(short)") && run.headline.hasPrefix("word word") && run.headline.count < 500)
        let text = page(run)
        #expect(text.contains("<b>notes::(anonymous namespace)::Cache&lt;…&gt;::load(…) const</b>"))
        #expect(text.matches(of: /std::less&lt;std::string&gt;&gt;, bool&gt;::load/).count == 1, "the whole name, once")
        #expect(text.contains("<summary>The whole name</summary>"))
        for (name, short) in [
            (String(repeating: "a", count: 300), String(repeating: "a", count: 60) + "…" + String(repeating: "a", count: 59)),
            ("closure #1 (\(arguments)) -> () in Notes.open(_: \(arguments))", "closure #1 (…) -> (…) in Notes.open(…)"),
            ("Notes.open(_: Swift.Int) -> ()", "Notes.open(_: Swift.Int) -> ()"),
        ] { #expect(name.functionInShort == short) }
        #expect("operator<(\(arguments)>".functionInShort.count == 120)
    }

    @Test func theStacksOfAHangComeFirst() throws {
        var run = try whole()
        let threads = run.crash?.threads
        (run.crash, run.problems) = (nil, [])
        run.verdict?.end = .hang
        run.identity?.hangSinceNanoseconds = 1_000_000_000
        run.snapshots = [
            Snapshot(
                kind: .hang, threadID: threads?.first?.threadID ?? 0, sinceNanoseconds: 1_000_000_000, takenNanoseconds: 2_000_000_000, threads: threads)
        ]
        let ids = page(run).matches(of: #/<section id="([a-z0-9-]+)"/#).map { String($0.1) }
        #expect(ids.first == "snapshot-1" && ids.count == Set(ids).count)
        var passed = run
        passed.verdict?.end = .clean
        passed.snapshots?[0].resolvedNanoseconds = run.snapshots?[0].takenNanoseconds
        #expect(page(passed).matches(of: #/<section id="([a-z0-9-]+)"/#).first?.1 != "snapshot-1")
    }

    /// For a run whose end nobody saw, the axis ends at the last known time. Where that is the last
    /// breadcrumb, the list has no entry for it.
    @Test func theEndOfTheBreadcrumbsIsSaidOnce() throws {
        var run = try Sample.crash()
        run.crash = nil
        run.verdict?.monotonicNanoseconds = nil
        let last = try #require(run.breadcrumbs?.entries.last)
        let known = page(run)
        #expect(known.contains("Time before the last breadcrumb") && !known.contains(#"<li class="end">"#) && !known.contains("−0.000"))
        #expect(page(try Sample.crash()).contains(#"<li class="end"><span class="when">0</span><span>The crash</span></li>"#))
        run.identity?.announcement = nil
        run.heartbeats = [.init(threadID: 1, isPaused: false, lastBeatNanoseconds: last.monotonicNanoseconds + 5_000_000)]
        #expect(page(run).contains(#"<li class="end"><span class="when">0</span><span>The last sign of life</span></li>"#))
    }

    @Test func linesOfATextAreLines() throws {
        var run = try whole()
        run.annotations = [Annotation(key: "document", value: "first\n<second>\n\u{1B}\n\n")]
        run.breadcrumbs?.entries[0].text = "one\ntwo"
        let text = page(run)
        #expect(text.contains("<dd>first\n&lt;second&gt;\n\\x1B</dd>") && text.contains("<bdi>one\ntwo</bdi>"))
    }

    @Test func aDirectoryOfManyRunsFillsNoPage() throws {
        var ledger = try Sample.ledger()
        let entry = try #require(ledger.timeline.last)
        ledger.timeline = (1...10_000 as ClosedRange<UInt64>).map {
            var copy = entry
            copy.ordinal = $0
            copy.uuid = "\($0)"
            return copy
        }
        ledger.uncounted = []
        var run = try whole()
        run.identity?.uuid = "5000"
        let text = page(run, ledger)
        #expect(text.contains("Not shown: 4849 earlier and 4950 later runs"))
        #expect(text.contains("#5000, this run") && text.contains("#4850<") && text.contains("#5050<"))
        #expect(text.utf8.count < 300_000, "\(text.utf8.count)")
        // Some of them are not counted yet.
        let more = try Sample.ledger().uncounted
        let one = try #require(more.first)
        ledger.uncounted = Array(repeating: one, count: 300)
        ledger.uncounted[100].uuid = "new"
        run.identity?.uuid = "new"
        #expect(page(run, ledger).contains("Not shown: 9950 earlier and 149 later runs"))
    }

    @Test func equalStacksAreOne() throws {
        var run = try whole()
        let worker = try #require(run.crash?.threads?.last)
        run.crash?.threads = (0..<20).map { (number: Int32) in
            var thread = worker
            thread.threadID = 5000 + number
            return thread
        }
        let text = page(run)
        let start = try #require(text.firstRange(of: #"<section id="threads""#))
        let end = try #require(text[start.upperBound...].firstRange(of: "</section>"))
        let section = text[start.lowerBound..<end.lowerBound]
        #expect(section.matches(of: #/<details/#).count == 1)
        #expect(section.contains("5011, … (20) &quot;worker&quot;"))
    }

    @Test func aLargeRunIsAPageOfSomeMegabytes() throws {
        var run = try whole()
        var worker = try #require(run.crash?.threads?.last)
        run.crash?.threads = (0..<100).map { number in
            worker.threadID = 5000 + Int32(number)
            let frames = (0..<128).map { Frame(address: Address(UInt64(number * 1000 + $0)), lookup: Address(7), module: "/opt/notes/notes", fileAddress: Address(9)) }
            worker.stack = Stack(method: .dwarf, frames: frames)
            return worker
        }
        run.breadcrumbs?.entries = (0..<25_000).map {
            Breadcrumb(
                lane: 0, sequence: UInt64($0), monotonicNanoseconds: 1_000_000_000 + UInt64($0) * 1000, time: nil, threadID: 1, level: .info,
                text: "request \($0) answered after some milliseconds")
        }
        let text = page(run, try Sample.ledger())
        #expect(text.utf8.count < 6_000_000, "\(text.utf8.count)")
        #expect(text.contains("Breadcrumbs, the last 10000 of 25000") && text.contains("request 24999 ") && !text.contains("request 14999 "))
        #expect(text.matches(of: #/<rect class="info"/#).count <= 200)
    }

    @Test func aDamagedRunHasAPage() {
        let text = page(RunReport(path: "damaged.lgrun"))
        #expect(text.contains("damaged") && text.hasSuffix("</html>\n"))
    }

    /// Times and addresses that no program has draw no nonsense, and end no tool.
    @Test(arguments: [0, 1, UInt64.max])
    func impossibleFiguresAreDrawn(number: UInt64) throws {
        var run = try whole()
        run.crash?.monotonicNanoseconds = number
        run.breadcrumbs?.entries[0].monotonicNanoseconds = UInt64.max - number
        run.crash?.address = Address(number)
        run.crash?.memoryMap?.mappings[0].end = Address(number)
        run.crash?.memoryMap?.mappings[1].start = Address(UInt64.max - number)
        var ledger = try Sample.ledger()
        ledger.timeline[0].durationNanoseconds = number
        ledger.contexts[0].rung = UInt32(truncatingIfNeeded: number)
        let text = page(run, ledger)
        #expect(!text.contains("nan") && !text.contains("inf\""))
    }
}
