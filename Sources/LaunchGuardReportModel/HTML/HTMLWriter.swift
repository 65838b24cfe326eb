/// Builds HTML. The type keeps text from files and markup apart: names of elements and attributes
/// are literals of the source, and everything else is escaped as ``TextWriter`` does and then as
/// HTML asks for.
struct HTMLWriter {
    /// The page in UTF-8.
    private(set) var bytes: [UInt8] = []
    /// The sections so far.
    private(set) var sections: [(id: String, title: String)] = []

    typealias Attributes = KeyValuePairs<StaticString, String>

    /// Append text.
    mutating func text(_ text: String) {
        for byte in TextWriter.escaped(text).utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// Append text that may have several lines; empty ones at its end are left out.
    mutating func lines(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        while lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        for (index, line) in lines.enumerated() {
            if index > 0 { endLine() }
            self.text(String(line))
        }
    }

    /// Append markup of the source.
    mutating func markup(_ markup: StaticString) {
        bytes += markup.description.utf8
    }

    /// Append an element and its content; an attribute whose value is empty has none.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], _ content: (inout HTMLWriter) -> Void) {
        open(name, attributes)
        content(&self)
        markup("</")
        markup(name)
        markup(">")
    }

    /// Append an element with text.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], _ content: String) {
        element(name, attributes) { $0.text(content) }
    }

    /// Append an element that has no end, as HTML knows a few, or the begin of one that has.
    mutating func open(_ name: StaticString, _ attributes: Attributes = [:]) {
        begin(name, attributes)
        markup(">")
    }

    /// Append an element of a drawing that has no content.
    mutating func shape(_ name: StaticString, _ attributes: Attributes) {
        begin(name, attributes)
        markup("/>")
    }

    private mutating func begin(_ name: StaticString, _ attributes: Attributes) {
        markup("<")
        markup(name)
        for (key, value) in attributes {
            markup(" ")
            markup(key)
            guard !value.isEmpty else { continue }
            markup("=\"")
            text(value)
            markup("\"")
        }
    }

    /// Append what another writer wrote.
    mutating func append(_ other: HTMLWriter) {
        bytes += other.bytes
        sections += other.sections
    }

    mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
    }

    // MARK: - Parts of a page

    /// A section with its heading. `id` is that of the section too.
    mutating func section(_ id: String, _ title: String, _ content: (inout HTMLWriter) -> Void) {
        sections.append((id, title))
        element("section", ["id": id, "aria-labelledby": id + "-title"]) {
            $0.element("h2", ["id": id + "-title"], title)
            content(&$0)
        }
        endLine()
    }

    /// A part that a person unfolds.
    mutating func folded(_ title: String, isOpen: Bool = false, _ content: (inout HTMLWriter) -> Void) {
        folded(isOpen: isOpen, summary: { $0.text(title) }, content)
    }

    mutating func folded(isOpen: Bool = false, summary: (inout HTMLWriter) -> Void, _ content: (inout HTMLWriter) -> Void) {
        element("details", isOpen ? ["open": ""] : [:]) {
            $0.element("summary", [:], summary)
            content(&$0)
        }
        endLine()
    }

    /// Names and values. A value without a name goes on with the one above. A fingerprint is there
    /// to be copied.
    mutating func facts(_ facts: [(name: String, value: String)]) {
        guard !facts.isEmpty else { return }
        element("dl") {
            for (index, fact) in facts.enumerated() {
                if !fact.name.isEmpty || index == 0 { $0.element("dt", [:], fact.name.isEmpty ? "also" : fact.name) }
                $0.element("dd") { fact.name == "fingerprint" || fact.name == "bug" ? $0.fingerprint(fact.value) : $0.lines(fact.value) }
            }
        }
    }

    /// A line of links to other pages of the same folder.
    mutating func links(_ links: [(words: String, page: String)]) {
        guard !links.isEmpty else { return }
        element("p", ["class": "note"]) {
            for (index, link) in links.enumerated() {
                if index > 0 { $0.text(" · ") }
                $0.element("a", ["href": link.page], link.words)
            }
        }
    }

    /// One click selects all digits.
    mutating func fingerprint(_ digits: String) {
        element("code", ["class": "fingerprint"], digits)
    }

    /// Lines of something that went wrong or is not there.
    mutating func warnings(_ lines: [String]) {
        for line in lines { element("p", ["class": "warning"], line) }
    }

    /// A part of the text report as it is, under its own heading.
    mutating func section(_ id: String, text write: (inout TextWriter) -> Void) {
        var writer = TextWriter()
        write(&writer)
        let lines = writer.text.split(separator: "\n")
        guard let title = lines.first else { return }
        section(id, title.first.map { $0.uppercased() + title.dropFirst() } ?? "") { page in
            page.preformatted(lines.dropFirst().map(String.init))
        }
    }

    mutating func preformatted(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        element("pre") {
            for line in lines {
                $0.text(line.hasPrefix("  ") ? String(line.dropFirst(2)) : line)
                $0.endLine()
            }
        }
    }
}
