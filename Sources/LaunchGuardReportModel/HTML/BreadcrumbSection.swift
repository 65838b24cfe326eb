/// The breadcrumbs on a page: drawn on a time axis that ends with the run, and listed.
struct BreadcrumbSection {
    private let entries: ArraySlice<Breadcrumb>
    private let all: Breadcrumbs
    /// The end of the axis, and its name.
    private let end: UInt64
    private let endName: String
    /// Whether the end is none of the breadcrumbs.
    private let isBeyond: Bool

    /// Nil: the run left none.
    init?(_ run: RunReport, limit: Int) {
        guard let breadcrumbs = run.breadcrumbs, let last = breadcrumbs.entries.last else { return nil }
        all = breadcrumbs
        entries = breadcrumbs.entries.suffix(limit)
        if let crash = run.fatalCrash {
            (end, endName) = (crash.monotonicNanoseconds, "the crash")
        } else if let time = run.verdict?.monotonicNanoseconds, time >= last.monotonicNanoseconds {
            (end, endName) = (time, "the end")
        } else {
            let time = run.lastSignOfLife ?? last.monotonicNanoseconds
            (end, endName) = (time, time > last.monotonicNanoseconds ? "the last sign of life" : "the last breadcrumb")
        }
        isBeyond = endName != "the last breadcrumb"
    }

    func write(to page: inout HTMLWriter) {
        let count = all.entries.count
        page.section("breadcrumbs", "Breadcrumbs" + (entries.count < count ? ", the last \(entries.count) of \(count)" : "")) {
            TimeAxis(entries.map { ($0.monotonicNanoseconds, Importance($0.level)) }, end: end, endName: endName).write(to: &$0)
            writeFilters(to: &$0)
            $0.element("ol", ["class": "log", "tabindex": "0", "aria-label": "Breadcrumbs, oldest first"]) { page in
                for entry in entries { write(entry, to: &page) }
                guard isBeyond else { return }
                page.element("li", ["class": "end"]) {
                    $0.element("span", ["class": "when"], "0")
                    $0.element("span", [:], endName.capitalizedFirst)
                }
            }
            $0.warnings((all.overwritten.map { [$0] } ?? []) + all.losses)
        }
    }

    /// A choice of levels that needs no script, and a search that the script shows.
    private func writeFilters(to page: inout HTMLWriter) {
        let present = Importance.allCases.filter { level in entries.contains { Importance($0.level) == level } }
        guard entries.count > 1 else { return }
        page.element("div", ["class": "filters"]) {
            $0.element("fieldset") {
                $0.element("legend", [:], "Levels")
                for (index, level) in present.enumerated() {
                    let name = index == 0 ? "all" : level == present.last ? level.name : "\(level.name) and above"
                    $0.element("label") {
                        let id = "level-\(level.rawValue)"
                        $0.open("input", index == 0 ? ["type": "radio", "name": "level", "id": id, "checked": ""] : ["type": "radio", "name": "level", "id": id])
                        $0.element("span", [:], name)
                    }
                }
            }
            $0.markup(HTMLScript.search)
        }
    }

    private func write(_ entry: Breadcrumb, to page: inout HTMLWriter) {
        page.element("li", ["class": Importance(entry.level).rawValue]) {
            let moment = entry.time?.description ?? "\(entry.monotonicNanoseconds) ns"
            $0.element("span", ["class": "when", "title": "\(moment), thread \(entry.threadID)"], distance(of: entry))
            $0.element("span", ["class": "level"], entry.level.description)
            $0.element("span") {
                if let category = entry.category {
                    $0.element("b", [:], category)
                    $0.text(" ")
                }
                $0.element("bdi") { $0.lines(entry.text) }
                if entry.isDamaged == true { $0.text("damaged") }
                for field in entry.fields ?? [] {
                    $0.text(" ")
                    $0.element("code", [:], "\(TextWriter.word(field.key))=\(field.value.map(TextWriter.word) ?? "(redacted)")")
                }
                if entry.isCut { $0.text(" …") }
            }
        }
        page.endLine()
    }

    private func distance(of entry: Breadcrumb) -> String {
        let time = entry.monotonicNanoseconds
        if time == end { return "0" }
        return time < end ? "−\((end - time).durationText)" : "+\((time - end).durationText)"
    }
}

/// The importance of a breadcrumb, as far as a page shows it.
enum Importance: String, CaseIterable {
    case detail, info, notice, warning, error

    init(_ level: Level) {
        self = level >= .error ? .error : level >= .warning ? .warning : level >= .notice ? .notice : level >= .info ? .info : .detail
    }

    var name: String { self == .detail ? "debug" : rawValue }
}
