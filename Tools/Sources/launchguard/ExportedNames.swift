internal import FoundationEssentials
import LaunchGuardReportModel

/// Adds the names of functions, with lines and inlined functions, to what the agent writes for
/// servers: they are those of `inspect`. The agent runs where no symbols are.
struct ExportedNames {
    private let frames: [UInt64: Frame]
    private let bugKey: String?

    /// Nil: no frame has a name.
    init?(_ report: RunReport) {
        let crashes = [report.crash].compactMap(\.self) + (report.otherCrashes ?? [])
        let threads = crashes.flatMap { $0.threads ?? [] } + (report.snapshots ?? []).flatMap { $0.threads ?? [] }
        let stacks = crashes.flatMap { [$0.dwarfStack, $0.storedStack, $0.framePointerStack] } + threads.flatMap { [$0.stack, $0.storedStack] }
        let named = stacks.flatMap { $0?.frames ?? [] }.filter { $0.symbols?.isEmpty == false }
        guard !named.isEmpty else { return nil }
        frames = Dictionary(named.map { ($0.lookup.value, $0) }) { first, _ in first }
        bugKey = report.bugKey(coarse: report.fingerprint)
    }

    // MARK: - Sentry

    /// An envelope: lines of JSON, each second one of which says how long the next one is.
    func named(envelope: [UInt8]) -> [UInt8] {
        var lines = envelope.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for index in lines.indices.dropLast() {
            guard case .object(var header) = JSONValue(lines[index]), header["type"] == .string("event"), case .object(var event) = JSONValue(lines[index + 1]) else { continue }
            addNames(to: &event)
            let payload = JSONValue.object(event).bytes
            // A server takes no more.
            guard payload.count <= 1 << 20 else { return envelope }
            header["length"] = .integer(Int64(payload.count))
            lines[index] = JSONValue.object(header).bytes[...]
            lines[index + 1] = payload[...]
            break
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    private func addNames(to event: inout [String: JSONValue]) {
        for key in ["exception", "threads"] {
            event[key]?.change("values") { $0.changeEach { $0.change("stacktrace") { $0.change("frames") { $0 = self.named(frames: $0) } } } }
        }
        if let bugKey { event["tags"]?.set("launchguard.bug", .string(bugKey)) }
    }

    /// The outermost first; a function that is inlined is a frame of its own after its caller.
    private func named(frames list: JSONValue) -> JSONValue {
        guard case .array(let values) = list else { return list }
        return .array(
            values.flatMap { value -> [JSONValue] in
                guard case .object(let object) = value, case .string(let text)? = object["instruction_addr"], let symbols = symbols(at: text) else { return [value] }
                return symbols.reversed().map { symbol in
                    var named = object
                    named["function"] = .string(symbol.name)
                    if let mangled = symbol.mangledName { named["raw_function"] = .string(mangled) }
                    if let file = symbol.file.map(Reader.pathWithoutHome) {
                        named["abs_path"] = .string(file)
                        named["filename"] = .string(file.split(separator: "/").last.map(String.init) ?? file)
                    }
                    if let line = symbol.line { named["lineno"] = .integer(Int64(line)) }
                    if let column = symbol.column { named["colno"] = .integer(Int64(column)) }
                    return .object(named)
                }
            })
    }

    private func symbols(at text: some StringProtocol) -> [Symbol]? {
        guard text.hasPrefix("0x"), let address = UInt64(text.dropFirst(2), radix: 16) else { return nil }
        return frames[address]?.symbols
    }

    // MARK: - OTLP

    /// A request with log records, some of whose attributes are stacks: lines of text.
    func named(request: [UInt8]) -> [UInt8] {
        guard var value = JSONValue(request[...]) else { return request }
        value.change("resourceLogs") { $0.changeEach { $0.change("scopeLogs") { $0.changeEach { $0.change("logRecords") { $0.changeEach(self.addNames(toRecord:)) } } } } }
        return value.bytes
    }

    private func addNames(toRecord record: inout JSONValue) {
        guard case .object(let object) = record, object["eventName"] == .string("app.crash"), case .array(var attributes)? = object["attributes"] else { return }
        for index in attributes.indices { addNames(toAttribute: &attributes[index]) }
        if let bugKey { attributes.append(.object(["key": .string("launchguard.bug"), "value": .object(["stringValue": .string(bugKey)])])) }
        record.set("attributes", .array(attributes))
    }

    /// The stacks of the other threads are attributes within values of that one.
    private func addNames(toAttribute attribute: inout JSONValue) {
        guard case .object(let object) = attribute, case .string(let key)? = object["key"] else { return }
        attribute.change("value") { value in
            if key == "exception.stacktrace" || key == "stacktrace" { value.change("stringValue") { $0 = self.named(stack: $0) } }
            guard key == "launchguard.threads" else { return }
            value.change("arrayValue") { $0.change("values") { $0.changeEach { $0.change("kvlistValue") { $0.change("values") { $0.changeEach(self.addNames(toAttribute:)) } } } } }
        }
    }

    private func named(stack: JSONValue) -> JSONValue {
        guard case .string(let text) = stack else { return stack }
        let lines = text.split(separator: "\n").flatMap { line -> [String] in
            let words = line.split(separator: " ")
            guard words.count > 1, let symbols = symbols(at: words[1]) else { return [String(line)] }
            return symbols.map { "\(line) \($0.words(file: Reader.pathWithoutHome))" }
        }
        return .string(lines.map { $0 + "\n" }.joined())
    }
}
