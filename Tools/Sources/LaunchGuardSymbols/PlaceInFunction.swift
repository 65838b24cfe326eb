/// A place in a function of x86-64 among those that do the same: the calls of one function, reads
/// or writes of memory, or divisions. In the order of the source, its number is the same in each
/// build, as long as no such place comes before it.
struct PlaceInFunction {
    /// The addresses to look up for all of them, this one included.
    let addresses: [UInt64]
    /// Whether they are calls.
    private let areCalls: Bool

    private static let mostBytes: UInt64 = 1 << 16
    private static let most = 256

    /// Nil: there is no other, or it cannot be said.
    ///
    /// - Parameter isCall: whether the byte before a return address is looked up.
    init?(at address: UInt64, isCall: Bool, in files: ModuleFiles) {
        for path in files.names + [files.program].compactMap(\.self) {
            guard let file = ELFFile(path: path), file.header()?.value(18, 2) == 62, let function = SymbolTables(of: file, at: [address]).functions[address],
                0 < function.size, function.size <= Self.mostBytes
            else { continue }
            for path in [path, files.program].compactMap(\.self) + files.names {
                guard let code = ELFFile(path: path)?.code(at: function.start, limit: function.size), code.count == function.size else { continue }
                self.init(at: address, isCall: isCall, code, function.start)
                return
            }
        }
        return nil
    }

    private init?(at address: UInt64, isCall: Bool, _ code: [UInt8], _ start: UInt64) {
        guard let instructions = X86Code.instructions(of: code, at: start) else { return nil }
        // The last byte of a call is looked up, the first one of another instruction.
        func lookup(_ place: UInt64, _ instruction: X86Code.Instruction) -> UInt64 { isCall ? place + UInt64(instruction.length) - 1 : place }
        guard let kind = instructions.first(where: { lookup($0.key, $0.value) == address })?.value.kind, kind != .other, [.read, .write, .divide].contains(kind) != isCall else { return nil }
        let places = instructions.filter { $0.value.kind == kind }.map { lookup($0.key, $0.value) }
        guard 1 < places.count, places.count <= Self.most else { return nil }
        addresses = places.sorted()
        areCalls = isCall
    }

    /// Nil: the places have no lines, or one.
    ///
    /// - Parameter function: its linker name; it may be inlined at the addresses.
    func number(of address: UInt64, in function: String, _ locations: (UInt64) -> [Location]) -> Int? {
        func position(_ address: UInt64) -> [Int]? {
            guard let location = locations(address).first(where: { $0.name == function }), let line = location.line else { return nil }
            // How many accesses a line is depends on the compiler.
            return areCalls ? [line, location.column ?? 0] : [line]
        }
        guard let own = position(address) else { return nil }
        let all = Set(addresses.compactMap(position))
        return all.count < 2 ? nil : all.count { $0.lexicographicallyPrecedes(own) } + 1
    }
}
