import LaunchGuardReportModel

/// Prints the progress of the reports.
struct UploadProgress {
    private let isJSON: Bool
    private var entries: [DeliveryEntry]
    /// The reports as they were at the start, and as they have been printed since.
    private var known: Set<DeliveryEntry>
    private var printed: Set<DeliveryEntry> = []

    init(_ entries: [DeliveryEntry], isJSON: Bool) {
        self.isJSON = isJSON
        self.entries = entries
        known = Set(entries)
    }

    var isPending: Bool { entries.contains { $0.state == .pending } }

    /// Print what has changed: an outcome, or why an attempt failed.
    mutating func update(_ entries: [DeliveryEntry]) {
        self.entries = entries
        for entry in entries where entry.state != .pending || entry.error != nil {
            if known.insert(entry).inserted { write(entry) }
        }
    }

    /// Print the unsent reports; true: there are none.
    mutating func finish() -> Bool {
        let left = entries.filter { $0.state != .sent && $0.state != .told }
        for entry in left where !printed.contains(entry) { write(entry) }
        if !isJSON, printed.isEmpty { Output.write("nothing to send\n") }
        return left.isEmpty
    }

    private mutating func write(_ entry: DeliveryEntry) {
        printed.insert(entry)
        if isJSON { return Output.writeLine(json: entry) }
        var writer = Output.makeWriter()
        writer.add("#\(entry.ordinal)", width: 6)
        writer.add(entry.end?.rawValue ?? "", width: 12)
        writer.line(entry.summary, entry.state.style)
        Output.write(writer.bytes)
    }
}
