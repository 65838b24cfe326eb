/// Instructions of x86-64, as far as their length, calls and accesses of memory.
enum X86Code {
    struct Instruction: Hashable {
        var length: Int
        var kind: Kind
    }

    enum Kind: Hashable {
        /// Of the function at an address, or of the one to which a word at an address points.
        case call(UInt64), callThrough(UInt64)
        /// Of memory that is neither a variable of the function nor at a fixed place.
        case read, write
        case divide
        case other
    }

    /// The instructions of a function from its begin on, by their addresses; nil: one of them is
    /// not known.
    static func instructions(of code: [UInt8], at start: UInt64) -> [UInt64: Instruction]? {
        let hasFrame = code.prefix(16).indices.contains { code[$0...].starts(with: [0x55, 0x48, 0x89, 0xE5]) }
        var found: [UInt64: Instruction] = [:]
        var index = 0
        while index < code.count {
            var reader = Reader(bytes: code, at: index, begin: index, hasFrame: hasFrame)
            guard let kind = reader.kind(at: start &+ UInt64(index)) else { return nil }
            found[start &+ UInt64(index)] = Instruction(length: reader.at - index, kind: kind)
            index = reader.at
        }
        return found
    }

    private struct Reader {
        let bytes: [UInt8]
        var at: Int
        let begin: Int
        let hasFrame: Bool
        private var isWide = false
        private var isShort = false
        private var isExtended = false
        private var isAccess = false
        private var isWrite = false
        /// Where a word is that lies at a distance from the next instruction.
        private var fixed: Int32?

        init(bytes: [UInt8], at: Int, begin: Int, hasFrame: Bool) {
            (self.bytes, self.at, self.begin, self.hasFrame) = (bytes, at, begin, hasFrame)
        }

        private mutating func next() -> UInt8? {
            guard at < bytes.count, at - begin < 15 else { return nil }
            defer { at += 1 }
            return bytes[at]
        }

        private mutating func skip(_ count: Int) -> Bool {
            at += count
            return at <= bytes.count && at - begin <= 15
        }

        private mutating func word() -> Int32? {
            let start = at
            guard skip(4) else { return nil }
            return Int32(truncatingIfNeeded: bytes.value(start, 4))
        }

        mutating func kind(at address: UInt64) -> Kind? {
            var isAddressShort = false
            while at < bytes.count, [0x66, 0x67, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65, 0xF0].contains(bytes[at]) {
                isShort = isShort || bytes[at] == 0x66
                isAddressShort = isAddressShort || bytes[at] == 0x67
                guard next() != nil else { return nil }
            }
            if at < bytes.count, bytes[at] & 0xF0 == 0x40, let rex = next() {
                isWide = rex & 8 != 0
                isExtended = rex & 1 != 0
            }
            guard let opcode = next() else { return nil }
            let end: UInt64
            switch opcode {
            case 0x0F: return second()
            case 0xC5:
                guard next() != nil else { return nil }
                return vector(map: 1)
            case 0xC4, 0x62:
                guard let first = next(), skip(opcode == 0xC4 ? 1 : 2) else { return nil }
                isExtended = first & 0x20 == 0
                return vector(map: Int(first & (opcode == 0xC4 ? 0x1F : 7)))
            case 0xE8:
                guard let distance = word() else { return nil }
                end = address &+ UInt64(at - begin)
                return .call(end &+ UInt64(bitPattern: Int64(distance)))
            case 0xA0...0xA3: return skip(isAddressShort ? 4 : 8) ? .other : nil
            case 0xA4, 0xA5, 0xAA, 0xAB: return .write
            case 0xA6, 0xA7, 0xAC...0xAF: return .read
            case 0xB8...0xBF: return skip(isWide ? 8 : isShort ? 2 : 4) ? .other : nil
            case 0xC8: return skip(3) ? .other : nil
            case 0xC2, 0xCA: return skip(2) ? .other : nil
            case 0xE9: return skip(4) ? .other : nil
            case 0xF6, 0xF7:
                guard let operation = modRM() else { return nil }
                let size = operation > 1 ? 0 : opcode == 0xF6 ? 1 : isShort ? 2 : 4
                isWrite = operation == 2 || operation == 3
                guard skip(size) else { return nil }
                return operation >= 6 && !isAccess ? .divide : result
            case 0xFF:
                guard let operation = modRM() else { return nil }
                if operation == 2, let fixed { return .callThrough(address &+ UInt64(at - begin) &+ UInt64(bitPattern: Int64(fixed))) }
                return operation == 6 && !isAccess ? .other : result
            default: break
            }
            let low = opcode & 7
            switch opcode {
            case 0x00...0x3F where low < 4, 0x63, 0x84...0x8E, 0xD0...0xD3, 0xD8...0xDF, 0xFE:
                guard modRM() != nil else { return nil }
                isWrite = opcode < 0x38 && low < 2 || [0x86, 0x87, 0x88, 0x89, 0x8C, 0xFE].contains(opcode) || 0xD0...0xD3 ~= opcode
                return opcode == 0x8D ? .other : result
            case 0x8F: return modRM() == 0 ? result : nil
            case 0x00...0x3F where low == 4, 0x6A, 0x70...0x7F, 0xA8, 0xB0...0xB7, 0xCD, 0xE0...0xE7, 0xEB: return skip(1) ? .other : nil
            case 0x00...0x3F where low == 5, 0x68, 0xA9: return skip(isShort ? 2 : 4) ? .other : nil
            case 0x6B, 0x69, 0x80, 0x81, 0x83, 0xC0, 0xC1, 0xC6, 0xC7:
                guard let operation = modRM() else { return nil }
                isWrite = opcode >= 0xC0 || opcode >= 0x80 && operation != 7
                return skip([0x69, 0x81, 0xC7].contains(opcode) ? isShort ? 2 : 4 : 1) ? result : nil
            case 0x50...0x5F, 0x6C...0x6F, 0x90...0x99, 0x9B...0x9F, 0xC3, 0xC9, 0xCB, 0xCC, 0xCF, 0xD7, 0xEC...0xEF, 0xF1, 0xF4, 0xF5, 0xF8...0xFD: return .other
            default: return nil
            }
        }

        private var result: Kind { !isAccess ? .other : isWrite ? .write : .read }

        /// Of vectors, of conditions, and of several processors.
        private static let stores = Set<UInt8>([0x11, 0x13, 0x17, 0x29, 0x2B, 0x7E, 0x7F, 0xB0, 0xB1, 0xC0, 0xC1, 0xC3, 0xC7, 0xD6, 0xE7] + Array(0x90...0x9F))

        /// After 0F.
        private mutating func second() -> Kind? {
            guard let opcode = next() else { return nil }
            isWrite = Self.stores.contains(opcode)
            switch opcode {
            case 0x05...0x09, 0x0B, 0x0E, 0x30...0x37, 0x77, 0xA0...0xA2, 0xA8...0xAA, 0xC8...0xCF: return .other
            case 0x80...0x8F: return skip(4) ? .other : nil
            case 0x38: return next() != nil && modRM() != nil ? result : nil
            case 0x3A: return next() != nil && modRM() != nil && skip(1) ? result : nil
            case 0x0D, 0x18...0x1F: return modRM() != nil ? .other : nil
            case 0x70...0x73, 0xA4, 0xAC, 0xBA, 0xC2, 0xC4...0xC6: return modRM() != nil && skip(1) ? result : nil
            default: return modRM() != nil ? result : nil
            }
        }

        private mutating func vector(map: Int) -> Kind? {
            guard (1...3).contains(map), let opcode = next() else { return nil }
            isWrite = map == 1 && Self.stores.contains(opcode)
            if map == 1, opcode == 0x77 { return .other }
            let hasByte = map == 3 || map == 1 && [0x70, 0x71, 0x72, 0x73, 0xC2, 0xC4, 0xC5, 0xC6].contains(opcode)
            return modRM() != nil && skip(hasByte ? 1 : 0) ? result : nil
        }

        /// The middle field, after all of the operand.
        private mutating func modRM() -> UInt8? {
            guard let byte = next() else { return nil }
            let mode = byte >> 6, register = byte & 7, middle = byte >> 3 & 7
            guard mode != 3 else { return middle }
            var base: UInt8? = register
            if register == 4 {
                guard let scale = next() else { return nil }
                base = scale & 7
                if mode == 0, base == 5 {
                    base = nil
                    guard skip(4) else { return nil }
                }
            } else if mode == 0, register == 5 {
                guard let distance = word() else { return nil }
                fixed = distance
                return middle
            }
            guard skip(mode == 1 ? 1 : mode == 2 ? 4 : 0) else { return nil }
            let isVariable = !isExtended && (base == 4 || base == 5 && hasFrame)
            isAccess = !isVariable
            return middle
        }
    }
}
