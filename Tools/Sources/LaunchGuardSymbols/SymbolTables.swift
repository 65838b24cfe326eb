/// The functions of a file by its symbol tables: the one of all symbols, the loader's, and the
/// compressed one of `.gnu_debugdata`. No program and no debug information is needed.
struct SymbolTables {
    /// A function that covers an address.
    struct Function: Hashable, Sendable {
        /// As the linker knows it.
        var name: String
        var start: UInt64
        /// Zero: no table says where it ends.
        var size: UInt64
    }

    /// The functions at some addresses of a file, as far as its tables know them.
    private(set) var functions: [UInt64: Function] = [:]
    /// Why a table could not be read, as a sentence; nil: each one was.
    private(set) var problem: String?
    /// Whether the file has a table of more than the symbols for the loader.
    private(set) var isWhole = false

    /// More symbols than this of one table are not looked at.
    private static let symbolLimit: UInt64 = 16 << 20
    private static let compressedLimit: UInt64 = 64 << 20

    init(of file: borrowing ELFFile, at addresses: some Sequence<UInt64>) {
        var nearest = Nearest(Set(addresses).sorted(), isARM: file.header()?.value(18, 2) == 183)
        let sections = file.sections()
        add(file, sections, to: &nearest, isInner: false)
        var inner = ELFFile(bytes: [])
        if !sections.contains(where: { $0.type == 2 }), let section = sections[name: ".gnu_debugdata"] {
            isWhole = true
            do throws(XZ.Failure) {
                guard let compressed = file.bytes(of: section, limit: Self.compressedLimit) else { throw XZ.Failure.damaged }
                inner = ELFFile(bytes: try XZ.bytes(of: compressed, limit: Int(Self.compressedLimit)))
                add(inner, inner.sections(), to: &nearest, isInner: true)
            } catch {
                problem = "its symbols are compressed (.gnu_debugdata): \(error)"
            }
        }
        for (address, symbol) in nearest.symbols {
            guard let name = symbol.isInner ? Self.name(symbol, inner) : Self.name(symbol, file) else { continue }
            functions[address] = Function(name: name, start: symbol.start, size: symbol.size)
        }
    }

    /// Adds the symbols of a file, those of the loader first.
    private mutating func add(_ file: borrowing ELFFile, _ sections: [ELFSection], to nearest: inout Nearest, isInner: Bool) {
        let ends = sections.map(\.end)
        // A file has one of each.
        let tables = [11, 2].compactMap { type in sections.first { $0.type == type } }
        for table in tables where sections.indices.contains(table.link) {
            isWhole = isWhole || table.type == 2
            let names = sections[table.link]
            let count = min(table.size / 24, Self.symbolLimit)
            for start in stride(from: 0, to: count, by: 1 << 15) {
                let part = min(count - start, 1 << 15)
                guard let symbols = file.read(at: table.offset &+ start * 24, count: Int(part * 24)) else {
                    problem = "its symbol table goes beyond its end"
                    break
                }
                nearest.add(symbols, names: names, ends: ends, isInner: isInner)
            }
        }
    }

    private static func name(_ symbol: Nearest.Symbol, _ file: borrowing ELFFile) -> String? {
        guard symbol.names.type != 8, symbol.name < symbol.names.size else { return nil }
        // Most names are short. A longer one is read again.
        for limit: UInt64 in [256, 65536] {
            let count = min(limit, symbol.names.size - symbol.name)
            guard let bytes = file.read(at: symbol.names.offset &+ symbol.name, count: Int(count)) else { return nil }
            guard bytes.contains(0) || limit == 65536 else { continue }
            // A linker that knows versions writes them after the names.
            let name = bytes.text(at: 0).prefix { $0 != "@" }
            return name.isEmpty ? nil : String(name)
        }
        return nil
    }
}

/// For each of some addresses, the symbol that begins last before it. One pass over the symbols, in
/// any order, is enough: a symbol is kept at the first address that is not before it.
private struct Nearest {
    struct Symbol {
        var start: UInt64
        var size: UInt64
        /// Where its name begins in that section.
        var name: UInt64
        var names: ELFSection
        /// The end of its own section.
        var end: UInt64
        /// Whether it is one of `.gnu_debugdata`.
        var isInner: Bool
    }

    /// In ascending order.
    private let addresses: [UInt64]
    private let isARM: Bool
    private var functions: [Symbol?]
    /// Those of which no table says where they end, as of code in assembly.
    private var labels: [Symbol?]

    init(_ addresses: [UInt64], isARM: Bool) {
        self.addresses = addresses
        self.isARM = isARM
        functions = Array(repeating: nil, count: addresses.count)
        labels = functions
    }

    /// Adds symbols as of `Elf64_Sym`, 24 bytes each. The sections of their file end there.
    mutating func add(_ symbols: [UInt8], names: ELFSection, ends: [UInt64], isInner: Bool) {
        unsafe symbols.withUnsafeBytes { bytes in
            for offset in stride(from: 0, through: bytes.count - 24, by: 24) {
                // The bytes of a symbol are within those of the array.
                let start = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
                let kind = unsafe bytes[offset + 4]
                let section = unsafe Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self)))
                let isFunction = kind & 15 == 2 || kind & 15 == 10
                // Sections 0 and from 0xFF00 on: it is elsewhere, or no address. A local label of
                // AArch64 marks where code and data alternate.
                guard isFunction || kind & 15 == 0 && !(isARM && kind == 0), section > 0, section < 0xFF00 else { continue }
                let index = index(of: start)
                guard index < addresses.count else { continue }
                let size = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
                let name = unsafe UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
                let end = ends.indices.contains(section) ? ends[section] : start
                let symbol = Symbol(start: start, size: size, name: name, names: names, end: end, isInner: isInner)
                if isFunction && size > 0 { Self.put(symbol, &functions[index]) } else { Self.put(symbol, &labels[index]) }
            }
        }
    }

    /// Among several symbols at one address the largest is the function proper, and among equals
    /// the last: global symbols come after local ones.
    private static func put(_ symbol: Symbol, _ place: inout Symbol?) {
        guard let other = place, (other.start, other.size) > (symbol.start, symbol.size) else {
            place = symbol
            return
        }
    }

    /// The first address that is not before `start`.
    private func index(of start: UInt64) -> Int {
        var (low, high) = (0, addresses.count)
        while low < high {
            let middle = (low + high) / 2
            if addresses[middle] < start { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The addresses that have a symbol.
    var symbols: [(address: UInt64, symbol: Symbol)] {
        var found: [(UInt64, Symbol)] = []
        var function: Symbol?
        var label: Symbol?
        for (index, address) in addresses.enumerated() {
            function = functions[index] ?? function
            label = labels[index] ?? label
            if let function, address - function.start < function.size {
                found.append((address, function))
            } else if let label, label.start >= function?.start ?? 0, label.size == 0 ? address < label.end : address - label.start < label.size {
                found.append((address, label))
            }
        }
        return found
    }
}
