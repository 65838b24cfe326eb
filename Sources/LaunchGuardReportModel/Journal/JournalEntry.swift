/// One entry of the Journal Export Format: fields, each a name and a value, and an empty line.
/// https://systemd.io/JOURNAL_EXPORT_FORMATS/
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// The times in nanoseconds. The format holds microseconds, and readers refuse a wall clock
    /// time of 0 and times of more than 55 bits.
    init(time: Timestamp?, monotonic: UInt64) {
        let limit: UInt64 = 1 << 55 - 1
        let uptime = min(monotonic / 1000, limit)
        // A clock that is not known stands as that of a machine without one: at its uptime in 1970.
        add("__REALTIME_TIMESTAMP", min(max(time.map { $0.nanoseconds / 1000 } ?? uptime, 1), limit))
        add("__MONOTONIC_TIMESTAMP", uptime)
    }

    /// Without fields.
    init() {}

    mutating func add(_ fields: JournalEntry) { bytes += fields.bytes }

    /// Append a field; without a value there is none. A name is one of this module: capital
    /// letters, digits and "_".
    mutating func add(_ name: String, _ value: (some CustomStringConvertible)?) {
        guard let text = value?.description else { return }
        bytes += name.utf8
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) {
            bytes.append(UInt8(ascii: "="))
        } else {
            // With its size instead of an end, a value may hold anything.
            bytes.append(UInt8(ascii: "\n"))
            let size = UInt64(text.utf8.count)
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: size >> shift)) }
        }
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Append a field for a person, who may see it on a terminal: coredumpctl prints such fields as
    /// they are.
    mutating func add(escaped name: String, _ value: String?) {
        add(name, value.map(TextWriter.escaped))
    }

    /// Append a field for each key with its value, as "key=value"; for a redacted key, its name
    /// alone.
    mutating func add(_ name: String, _ key: String, _ value: String?) {
        if let value { add(name, "\(TextWriter.word(key))=\(value)") } else { add("LAUNCHGUARD_REDACTED", key) }
    }

    consuming func finished() -> [UInt8] {
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
