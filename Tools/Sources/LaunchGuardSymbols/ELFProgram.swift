/// Facts from the file of a program or a library.
package struct ELFProgram: Sendable {
    /// As of `<elf.h>`: 62 for x86-64, 183 for AArch64.
    package var machine: UInt64
    /// The dynamic loader; nil: none is asked for.
    package var interpreter: String?
    /// File names of the libraries that it loads itself.
    package var libraries: [String] = []
    /// Folders in which to look for them first, as they are written there.
    package var libraryFolders: [String] = []
    /// Names of its sections.
    package var sections: Set<String> = []
    /// The lowest address that its segments are loaded to.
    package var start: UInt64?
    /// Whether it has a table of symbols beyond those for the loader.
    package var hasSymbols = false
    /// Whether it has a table by which stacks are unwound.
    package var hasUnwindTable = false
}

extension ELFFile {
    /// Nil: it is no 64-bit little-endian ELF file.
    package func program() -> ELFProgram? {
        guard let header = header() else { return nil }
        var program = ELFProgram(machine: header.value(18, 2))
        let segments = entries(at: header.value(32, 8), size: 56, count: header.value(56, 2))
        for segment in segments {
            switch segment.value(0, 4) {
            case 1: program.start = min(program.start ?? .max, segment.value(16, 8) & ~0xFFF)
            case 2: addDynamic(of: segment, segments, to: &program)
            case 3: program.interpreter = bytes(at: segment.value(8, 8), size: segment.value(32, 8), limit: 4096).map { $0.text(at: 0) }
            case 0x6474_E550: program.hasUnwindTable = true
            default: break
            }
        }
        let sections = sections()
        program.hasSymbols = sections.contains { $0.type == 2 }
        program.sections = Set(sections.map(\.name))
        return program
    }

    private func addDynamic(of segment: [UInt8], _ segments: [[UInt8]], to program: inout ELFProgram) {
        guard let dynamic = bytes(at: segment.value(8, 8), size: segment.value(32, 8), limit: 1 << 16) else { return }
        let values = stride(from: 0, to: dynamic.count - 15, by: 16).map { (tag: dynamic.value($0, 8), value: dynamic.value($0 + 8, 8)) }
        func value(_ tag: UInt64) -> UInt64? { values.first { $0.tag == tag }?.value }
        guard let address = value(5), let size = value(10) else { return }
        let place = segments.first { $0.value(0, 4) == 1 && address >= $0.value(16, 8) && address - $0.value(16, 8) < $0.value(32, 8) }
        guard let place, let texts = bytes(at: address - place.value(16, 8) &+ place.value(8, 8), size: size, limit: 1 << 22) else { return }
        for (tag, value) in values {
            let text = value < UInt64(texts.count) ? texts.text(at: Int(value)) : ""
            switch tag {
            case 1: program.libraries.append(text)
            case 15, 29: program.libraryFolders += text.split(separator: ":").map(String.init)
            default: break
            }
        }
    }

    private func entries(at offset: UInt64, size: Int, count: UInt64) -> [[UInt8]] {
        guard offset > 0 else { return [] }
        return (0..<min(count, 4096)).compactMap { read(at: offset &+ $0 * UInt64(size), count: size) }
    }

    private func bytes(at offset: UInt64, size: UInt64, limit: UInt64) -> [UInt8]? {
        read(at: offset, count: Int(min(size, limit)))
    }
}
