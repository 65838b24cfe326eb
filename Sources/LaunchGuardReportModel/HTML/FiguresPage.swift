/// A page of tables, with a run as an example where there is one: a single file of HTML that loads
/// nothing and has no script. The page looks as that of a run, ``HTMLPage``, and takes the same
/// care of text that comes from files.
public struct FiguresPage: Sendable {
    public var title: String
    public var subtitle: String
    public var facts: [(name: String, value: String)] = []
    public var tables: [Table] = []
    /// Other pages of the same folder: words, and the name of the file.
    public var links: [(words: String, page: String)] = []
    /// Its parts come after the tables.
    public var example: (title: String, run: RunReport)?

    /// A table with its heading.
    public struct Table: Sendable {
        /// The anchor of its heading.
        public var id: String
        public var title: String
        public var columns: [String]
        public var rows: [[Cell]]
        /// A paragraph below the rows.
        public var note: String?

        public init(id: String, title: String, columns: [String], rows: [[Cell]], note: String? = nil) {
            self.id = id
            self.title = title
            self.columns = columns
            self.rows = rows
            self.note = note
        }
    }

    /// Content of one cell.
    public enum Cell: Sendable {
        case text(String)
        case fingerprint(String)
        case number(Int)
        /// A word that stands out, and more.
        case marked(String, TextWriter.Style, String)
        /// A text, and further lines about it.
        case words(String, [String])
        /// A link to another page of the same folder: words, and the name of the file.
        case link(String, String)
        /// A drawing: a bar for each number.
        case bars([Int])
    }

    public init(title: String, subtitle: String) {
        self.title = title
        self.subtitle = subtitle
    }

    /// The page, in UTF-8.
    public var bytes: [UInt8] {
        var sections = HTMLWriter()
        writeSections(to: &sections)
        var page = HTMLWriter()
        page.markup("<!DOCTYPE html>\n")
        page.element("html", ["lang": "en"]) {
            writeHead(to: &$0)
            $0.element("body") { page in
                page.element("a", ["class": "skip", "href": "#content"], "Skip to the figures")
                page.element("header") {
                    $0.element("p", ["class": "program"]) { $0.element("strong", [:], subtitle) }
                    $0.element("h1", [:], title)
                    $0.links(links)
                }
                if sections.sections.count > 1 { HTMLPage.writeNavigation(sections.sections, to: &page) }
                page.element("main", ["id": "content"]) { $0.append(sections) }
                page.element("footer") { $0.element("p", [:], "Written by LaunchGuard. This page is one file and loads nothing.") }
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
            $0.element("title", [:], title.prefix(100) + (title.count > 100 ? "…" : ""))
            $0.element("style") { $0.markup(HTMLStyle.text) }
        }
        page.endLine()
    }

    /// No connection, no script, and by its digest the one style of the page.
    private static let policy = "default-src 'none'; style-src '\(HTMLStyle.digest)'; base-uri 'none'; form-action 'none'"

    private func writeSections(to page: inout HTMLWriter) {
        if !facts.isEmpty { page.section("figures", "Figures") { $0.facts(facts) } }
        for table in tables { table.write(to: &page) }
        guard let example else { return }
        page.section("example", example.title) {
            $0.element("p", [:], example.run.headline)
            if let verdict = example.run.verdict { $0.element("p", ["class": "evidence"], "Evidence: \(verdict.evidence)") }
            example.run.crash?.writeMessages(to: &$0)
        }
        HTMLPage(example.run).writeSections(to: &page)
    }
}

extension FiguresPage.Table {
    fileprivate func write(to page: inout HTMLWriter) {
        page.section(id, title) { page in
            page.element("div", ["class": "scroll", "role": "region", "aria-labelledby": id + "-title", "tabindex": "0"]) {
                // On a phone each row is a block, and each cell has the name of its column.
                $0.element("table", ["class": "figures"]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for column in columns { row.element("th", ["scope": "col"], column) }
                        }
                    }
                    table.element("tbody") { body in
                        for cells in rows {
                            body.element("tr") { row in
                                for (column, cell) in zip(columns, cells) { row.element("td", ["data-label": column]) { cell.write(to: &$0) } }
                            }
                            body.endLine()
                        }
                    }
                }
            }
            if let note { page.element("p", ["class": "note"], note) }
        }
    }
}

extension FiguresPage.Cell {
    fileprivate func write(to page: inout HTMLWriter) {
        switch self {
        case .text(let text): page.text(text)
        case .fingerprint(let digits): page.fingerprint(digits)
        case .number(let number): page.text(String(number))
        case .marked(let word, let style, let text):
            page.element("span") {
                $0.element("b", ["class": style.color], word)
                $0.text(": " + text)
            }
        case .words(let text, let lines):
            page.element("div") {
                $0.text(text)
                for line in lines { $0.element("p", ["class": "note"], line) }
            }
        case .link(let words, let name): page.element("a", ["href": name], words)
        case .bars(let counts): Self.draw(counts, to: &page)
        }
    }

    private static let (step, height) = (8, 24)

    private static func draw(_ counts: [Int], to page: inout HTMLWriter) {
        guard let most = counts.max() else { return }
        let words = counts.map(String.init).joined(separator: ", ")
        let (width, height) = (counts.count * step, height)
        page.element("svg", ["role": "img", "aria-label": words, "width": "\(width)", "height": "\(height + 1)", "viewBox": "0 0 \(width) \(height + 1)"]) {
            for (index, count) in counts.enumerated() {
                let size = count == 0 ? 0 : max(2, count * height / most)
                $0.shape(
                    "rect",
                    [
                        "x": "\(index * step)", "y": "\(height - size)", "width": "\(step - 2)", "height": "\(size + 1)",
                        "fill": count == 0 ? "var(--line)" : "var(--data)",
                    ])
            }
        }
    }
}
