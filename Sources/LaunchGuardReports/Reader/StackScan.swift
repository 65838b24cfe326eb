/// A search of stack memory for what may be return addresses, where no walk got through.
enum StackScan {
    /// As many as a person will look through.
    static let limit = 64
    /// How much of the memory is searched, from its start, where the innermost frames are.
    static let bytes = 1 << 16

    /// The words of the memory that point into executable mappings of modules; `start` is the
    /// address of the first byte.
    static func candidates(in bytes: [UInt8], from start: UInt64, map: MemoryMap, modules: [RunModule]) -> [Address] {
        let executable = map.mappings.filter(\.isExecutable)
        var found: [Address] = []
        var index = Int((8 - start % 8) % 8)
        while index + 8 <= min(bytes.count, Self.bytes), found.count < limit {
            let value = bytes[index..<index + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            index += 8
            let lookup = Address(value &- 1)
            guard found.last?.value != value, modules.contains(where: { $0.contains(lookup) }),
                executable.contains(where: { $0.contains(lookup) })
            else { continue }
            found.append(Address(value))
        }
        return found
    }
}
