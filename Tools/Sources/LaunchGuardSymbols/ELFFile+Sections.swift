/// A section of an ELF file.
struct ELFSection: Sendable {
    var name: String
    /// As of `<elf.h>`: 2 for the table of all symbols, 8 for no bytes in the file, 11 for the
    /// table of the loader.
    var type: UInt64
    var address: UInt64
    var offset: UInt64
    var size: UInt64
    /// The number of a section that belongs to it: for symbols, that of their names.
    var link: Int
    /// Whether its bytes begin with a header of compression.
    var isCompressed = false

    /// The first address after it.
    var end: UInt64 { address &+ size }
}

extension ELFFile {
    /// The sections by their numbers; none when the file is no 64-bit little-endian ELF file or has
    /// no table of them.
    func sections() -> [ELFSection] {
        guard let header = header() else { return [] }
        let (table, entrySize) = (header.value(40, 8), UInt64(64))
        guard table > 0, table < size else { return [] }
        // Numbers that the header has no room for are in the first section.
        guard let first = read(at: table, count: 64) else { return [] }
        let written = header.value(60, 2)
        let count = min(written > 0 ? written : first.value(32, 8), 65536, (size - table) / entrySize)
        guard let entries = read(at: table, count: Int(count * entrySize)) else { return [] }
        var sections = (0..<Int(count)).map { index in
            let start = index * 64
            return ELFSection(
                name: "", type: entries.value(start + 4, 4), address: entries.value(start + 16, 8), offset: entries.value(start + 24, 8),
                size: entries.value(start + 32, 8), link: Int(entries.value(start + 40, 4)), isCompressed: entries.value(start + 8, 8) & 0x800 != 0)
        }
        let writtenNames = header.value(62, 2)
        let names = Int(writtenNames == 0xFFFF ? first.value(40, 4) : writtenNames)
        guard sections.indices.contains(names), let texts = bytes(of: sections[names], limit: 1 << 22) else { return sections }
        // Names may overlap, so that all of them together could be as long as a file likes.
        for index in sections.indices { sections[index].name = texts.text(at: Int(entries.value(index * 64, 4)), limit: 64) }
        return sections
    }

    /// Whether the table of lines is compressed with zstd, number 2 of `<elf.h>`.
    var hasZstandardLines: Bool {
        guard let lines = sections()[name: ".debug_line"], lines.isCompressed else { return false }
        return read(at: lines.offset, count: 4)?.value(0, 4) == 2
    }

    /// The name in `.gnu_debugaltlink` of the file that holds a part of the debug information; nil:
    /// none is named.
    func alternateFile() -> String? {
        guard let section = sections()[name: ".gnu_debugaltlink"], let bytes = bytes(of: section, limit: 4096) else { return nil }
        let name = bytes.text(at: 0)
        return name.isEmpty ? nil : name
    }

    /// The bytes of a section; nil when it has none in the file, or more than `limit`.
    func bytes(of section: ELFSection, limit: UInt64) -> [UInt8]? {
        guard section.type != 8, section.size <= limit else { return nil }
        return read(at: section.offset, count: Int(section.size))
    }
}

extension [ELFSection] {
    /// Whether they hold lines of the source.
    var haveLines: Bool {
        contains { ["", "z"].map { ".\($0)debug_line" }.contains($0.name) && $0.type != 8 && $0.size > 0 }
    }

    subscript(name name: String) -> ELFSection? { first { $0.name == name } }
}
