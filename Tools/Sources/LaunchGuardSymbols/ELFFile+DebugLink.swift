extension ELFFile {
    /// The name and the checksum of a separate debug file, as of `.gnu_debuglink`; nil: none is
    /// named.
    func debugLink() -> (name: String, checksum: UInt32)? {
        guard let section = sections()[name: ".gnu_debuglink"], let bytes = bytes(of: section, limit: 4096) else { return nil }
        let name = bytes.text(at: 0)
        let place = (name.utf8.count + 4) & ~3
        guard !name.isEmpty, !name.contains("/"), place + 4 <= bytes.count else { return nil }
        return (name, UInt32(truncatingIfNeeded: bytes.value(place, 4)))
    }

    /// The CRC-32 of the whole file; nil: the file cannot be read.
    func checksum() -> UInt32? {
        var sum: UInt32 = ~0
        for start in stride(from: 0, to: size, by: 1 << 20) {
            guard let bytes = read(at: start, count: Int(min(size - start, 1 << 20))) else { return nil }
            for byte in bytes { sum = Self.table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8) }
        }
        return ~sum
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xEDB8_8320 }
    }
}
