/// The memory map of the process at the crash.
public struct MemoryMap: Codable, Hashable, Sendable {
    public var mappings: [Mapping]
    /// Whether the record had no room for all of it.
    public var isCut: Bool

    public init(mappings: [Mapping], isCut: Bool = false) {
        self.mappings = mappings
        self.isCut = isCut
    }

    /// The map from the text of `/proc/PID/maps`. A line that is none of such a text is left out,
    /// and so is the last one when the text was cut in it.
    public init(text: String, isCut: Bool) {
        var lines = text.split(separator: "\n")
        if isCut, !text.hasSuffix("\n"), !lines.isEmpty { lines.removeLast() }
        self.init(mappings: lines.compactMap(Mapping.init(line:)), isCut: isCut)
    }

    /// The mapping that holds an address.
    public func mapping(at address: Address) -> Mapping? {
        mappings.first { $0.contains(address) }
    }
}

/// One stretch of mapped memory.
public struct Mapping: Codable, Hashable, Sendable {
    public var start: Address
    public var end: Address
    /// As in proc(5), for example "r-xp".
    public var permissions: String
    /// Of the first byte, in the file.
    public var offset: UInt64
    /// The file, or a name such as "[stack]"; nil: memory without a name.
    public var path: String?

    public init(start: Address, end: Address, permissions: String, offset: UInt64 = 0, path: String? = nil) {
        self.start = start
        self.end = end
        self.permissions = permissions
        self.offset = offset
        self.path = path
    }

    /// A line of `/proc/PID/maps`.
    init?(line: Substring) {
        let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
        guard fields.count >= 5, let dash = fields[0].firstIndex(of: "-"),
            let start = UInt64(fields[0][..<dash], radix: 16), let end = UInt64(fields[0][fields[0].index(after: dash)...], radix: 16),
            start < end, fields[1].count == 4, let offset = UInt64(fields[2], radix: 16)
        else { return nil }
        let path = fields.count > 5 ? fields[5].drop { $0 == " " } : ""
        self.init(
            start: Address(start), end: Address(end), permissions: String(fields[1]), offset: offset,
            path: path.isEmpty ? nil : String(path))
    }

    public func contains(_ address: Address) -> Bool {
        start <= address && address < end
    }

    public var isExecutable: Bool { permissions.contains("x") }

    /// A few words for it.
    var name: String { path.map { $0.hasPrefix("/") ? $0.lastPathPart : $0 } ?? "memory without a name" }
}

extension MemoryMap {
    /// The place of an address, in words: its mapping, or the distance to the next one. Nil where
    /// the map does not show it.
    func place(of address: Address) -> String? {
        if let mapping = mapping(at: address) {
            guard let path = mapping.path, path.hasPrefix("/") else { return "in \(mapping.name), mapped \(mapping.permissions)" }
            let offset = Address(mapping.offset &+ (address.value - mapping.start.value))
            return "in the mapped file \(path) at offset \(offset.short), mapped \(mapping.permissions)"
        }
        // The low addresses say nothing about their neighbours: they are offsets to a null pointer.
        guard address.value >= 65536 else { return nil }
        let below = mappings.filter { $0.end <= address }.max { $0.end < $1.end }
        let above = mappings.filter { $0.start > address }.min { $0.start < $1.start }
        if isCut, above == nil { return nil }
        let behind = below.map { (address.value - $0.end.value, "behind \($0.name)") }
        let before = above.map { ($0.start.value - address.value, "before \($0.name)") }
        guard let (distance, words) = [behind, before].compactMap(\.self).min(by: { $0.0 < $1.0 }), distance < 1 << 30 else {
            return "in no mapping"
        }
        return "in no mapping, \(distance.bytesText) \(words)"
    }

    func write(to writer: inout TextWriter) {
        writer.heading("memory map")
        for mapping in mappings {
            writer.line("  \(mapping.start)–\(mapping.end)  \(mapping.permissions)  \(mapping.path ?? "")")
        }
        if isCut { writer.line("  … the record had no room for the rest", .yellow) }
    }
}

extension UInt64 {
    /// A number of bytes as a person reads it, for example "12 bytes" or "1.5 MiB".
    var bytesText: String {
        guard self >= 4096 else { return counting("byte", "bytes") }
        var unit: UInt64 = 1024
        var names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][...]
        while names.count > 1, self / unit >= 1024 {
            unit *= 1024
            names.removeFirst()
        }
        return "\(self / unit).\(self % unit / (unit / 1024) * 10 / 1024) \(names.first ?? "")"
    }
}
