/// Debug information that the compiler left beside the object files, as with `-gsplit-dwarf`: the
/// program has a skeleton of each unit, which names the file of the rest (DWARF 5, section 3.1.2;
/// in version 4 an extension of GNU).
extension ELFFile {
    /// More units than this are not looked at.
    private static let mostUnits = 65536

    /// The paths of those files, as the program names them.
    func splitFiles() -> [String] {
        let sections = sections()
        guard let units = sections[name: ".debug_info"], !units.isCompressed, units.type != 8, let abbreviations = sections[name: ".debug_abbrev"] else { return [] }
        var paths: [String] = []
        var offset: UInt64 = 0
        for _ in 0..<Self.mostUnits {
            guard offset < units.size, let start = read(at: units.offset &+ offset, count: Int(min(units.size - offset, 512))), start.count > 24 else { break }
            let length = start.value(0, 4)
            // Longer ones have 64 bits.
            guard length < 0xFFFF_FFF0 else { break }
            let version = start.value(4, 2)
            let isSkeleton = version == 5 && start.value(6, 1) == 4
            if isSkeleton || version == 4 {
                let abbreviation = abbreviations.offset &+ start.value(isSkeleton ? 8 : 6, 4)
                if let path = splitFile(of: start, at: isSkeleton ? 20 : 11, abbreviation, sections), !paths.contains(path) { paths.append(path) }
            }
            offset += length + 4
        }
        return paths
    }

    /// Of one unit, whose first entry begins at an index of its bytes.
    private func splitFile(of bytes: [UInt8], at index: Int, _ abbreviations: UInt64, _ sections: [ELFSection]) -> String? {
        guard abbreviations < size, let table = read(at: abbreviations, count: Int(min(size - abbreviations, 4096))) else { return nil }
        var unit = LEBReader(bytes: bytes, at: index), entry = LEBReader(bytes: table)
        // The entry of a unit has the first abbreviation.
        guard let code = unit.number(), code > 0, entry.number() == code, entry.number() != nil, entry.fixed(1) != nil else { return nil }
        var values: [UInt64: Value] = [:]
        while let attribute = entry.number(), let form = entry.number(), attribute != 0 {
            if form == 0x21 { _ = entry.number() }
            guard let value = unit.value(of: form) else { return nil }
            values[attribute] = value
        }
        let base: UInt64 = if case .number(let base)? = values[0x72] { base } else { 8 }
        guard let name = (values[0x76] ?? values[0x2130]).flatMap({ text(of: $0, base, sections) }), !name.isEmpty else { return nil }
        guard !name.hasPrefix("/"), let folder = values[0x1B].flatMap({ text(of: $0, base, sections) }) else { return name }
        return folder + "/" + name
    }

    private func text(of value: Value, _ base: UInt64, _ sections: [ELFSection]) -> String? {
        func text(_ name: String, _ offset: UInt64) -> String? {
            guard let section = sections[name: name], section.type != 8, !section.isCompressed, offset < section.size else { return nil }
            return read(at: section.offset &+ offset, count: Int(min(section.size - offset, 4096)))?.text(at: 0)
        }
        switch value {
        case .text(let text): return text
        case .number: return nil
        case .string(let section, let offset): return text(section, offset)
        case .index(let index):
            guard let offsets = sections[name: ".debug_str_offsets"], offsets.type != 8, !offsets.isCompressed,
                index < offsets.size / 4, base < offsets.size, let offset = read(at: offsets.offset &+ base &+ index * 4, count: 4)
            else { return nil }
            return text(".debug_str", offset.value(0, 4))
        }
    }
}

/// The value of an attribute.
private enum Value {
    case text(String)
    case number(UInt64)
    /// In a section, at an offset.
    case string(String, UInt64)
    /// Of a string.
    case index(UInt64)
}

/// Reads numbers one after the other.
private struct LEBReader {
    let bytes: [UInt8]
    var at = 0

    mutating func fixed(_ size: Int) -> UInt64? {
        guard bytes.count - at >= size else { return nil }
        defer { at += size }
        return bytes.value(at, size)
    }

    mutating func skip(_ size: UInt64?) -> Value? {
        guard let size, size <= UInt64(bytes.count - at) else { return nil }
        at += Int(size)
        return .number(0)
    }

    /// A number of LEB128, without a sign.
    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = fixed(1) else { return nil }
            if shift < 64 { value |= (byte & 0x7F) << shift }
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    /// By the numbers of DWARF 5, section 7.5.6, and of GNU's extension.
    mutating func value(of form: UInt64) -> Value? {
        switch form {
        case 0x08:
            guard let end = bytes[at...].firstIndex(of: 0) else { return nil }
            defer { at = end + 1 }
            return .text(bytes.text(at: at))
        case 0x0E: return fixed(4).map { .string(".debug_str", $0) }
        case 0x1F: return fixed(4).map { .string(".debug_line_str", $0) }
        case 0x1A, 0x1F02: return number().map { .index($0) }
        case 0x25, 0x26, 0x27, 0x28: return fixed(Int(form) - 0x24).map { .index($0) }
        case 0x06, 0x17: return fixed(4).map { .number($0) }
        case 0x0B, 0x0C, 0x29: return skip(1)
        case 0x05, 0x2A: return skip(2)
        case 0x2B: return skip(3)
        case 0x2C: return skip(4)
        case 0x01, 0x07, 0x20: return skip(8)
        case 0x1E: return skip(16)
        case 0x0A: return skip(fixed(1))
        case 0x03: return skip(fixed(2))
        case 0x04: return skip(fixed(4))
        case 0x09: return skip(number())
        case 0x0D, 0x0F, 0x1B, 0x22, 0x23, 0x1F01: return number().map { .number($0) }
        case 0x19, 0x21: return .number(0)
        default: return nil
        }
    }
}
