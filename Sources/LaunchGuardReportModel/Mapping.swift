/// The memory map of the process at the crash.
public struct MemoryMap: Codable, Hashable, Sendable {
    public var mappings: [Mapping]
    /// Whether the record had no room for all of it.
    public var isCut: Bool

    public init(mappings: [Mapping], isCut: Bool = false) {
        self.mappings = mappings
        self.isCut = isCut
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
    /// Place of the first byte in the file.
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

    public func contains(_ address: Address) -> Bool {
        start <= address && address < end
    }

    public var isExecutable: Bool { permissions.contains("x") }

    /// A few words for it.
    var name: String { path.map { $0.hasPrefix("/") ? $0.lastPathPart : $0 } ?? "memory without a name" }
}

extension MemoryMap {
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
