/// A function and the return address of its frame, both in one file of x86-64. Where the call
/// before that address is of another function, and that one jumps to this one, it has no frame any
/// more.
struct TailCall: Hashable, Sendable {
    /// Where the function begins.
    var function: UInt64
    var returnAddress: UInt64
    /// The files of the module that have its code and its symbols.
    var code: String?
    var symbols: [String]

    private static let mostBytes: UInt64 = 1 << 16

    /// Whether a call is left out. A function that only jumps to a part of itself is none.
    var isSure: Bool {
        let place = returnAddress &- 5
        guard let file = code.flatMap(ELFFile.init), file.header()?.value(18, 2) == 62, let call = file.code(at: place, limit: 5), call.first == 0xE8,
            let called = call.target(ofJumpAt: 0, from: place, size: 4), called != function, let code = file.code(at: called, limit: Self.mostBytes)
        else { return false }
        let jumps = code.indices.filter { code.isJump(at: $0, from: called, to: function) }.map { called &+ UInt64($0) }
        return !jumps.isEmpty && symbols.contains { isSure(called, jumps, $0) }
    }

    /// By the symbols of one file.
    private func isSure(_ called: UInt64, _ jumps: [UInt64], _ path: String) -> Bool {
        guard let file = ELFFile(path: path) else { return false }
        let functions = SymbolTables(of: file, at: jumps + [called, function]).functions
        guard let caller = functions[called], let callee = functions[function], caller.start == called, callee.start == function else { return false }
        return jumps.contains { functions[$0] == caller } && PartName.function(caller.name) != PartName.function(callee.name)
    }
}

extension ELFFile {
    /// Bytes of a section of code from an address on; nil: the file has none there.
    func code(at address: UInt64, limit: UInt64) -> [UInt8]? {
        guard let section = sections().first(where: { $0.type == 1 && $0.address <= address && address < $0.end }) else { return nil }
        return read(at: section.offset &+ (address - section.address), count: Int(min(section.end - address, limit)))
    }
}

extension [UInt8] {
    /// Where a jump or a call of those bytes goes, whose distance of `size` bytes comes after its
    /// first byte; nil: it is cut.
    fileprivate func target(ofJumpAt index: Int, from start: UInt64, size: Int) -> UInt64? {
        guard index + 1 + size <= count else { return nil }
        let distance = size == 1 ? Int64(Int8(truncatingIfNeeded: value(index + 1, 1))) : Int64(Int32(truncatingIfNeeded: value(index + 1, 4)))
        return start &+ UInt64(index + 1 + size) &+ UInt64(bitPattern: distance)
    }

    /// jmp in two forms, and jcc.
    fileprivate func isJump(at index: Int, from start: UInt64, to target: UInt64) -> Bool {
        switch self[index] {
        case 0xE9: self.target(ofJumpAt: index, from: start, size: 4) == target
        case 0xEB: self.target(ofJumpAt: index, from: start, size: 1) == target
        case 0x80...0x8F: index > 0 && self[index - 1] == 0x0F && self.target(ofJumpAt: index, from: start, size: 4) == target
        default: false
        }
    }
}
