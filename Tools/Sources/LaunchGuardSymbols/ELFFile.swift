internal import LaunchGuardPlatform

internal import LaunchGuardReportModel

/// An ELF file of this machine, opened to read its build id, its symbols and what it asks for.
/// Every offset and length is checked, as the file may hold anything.
package struct ELFFile: ~Copyable {
    private let source: Source
    /// Bytes of the file.
    let size: UInt64

    private enum Source {
        case descriptor(Int32)
        case bytes([UInt8])
    }

    /// Opens a regular file; nil for anything else. The call never blocks, whatever the path names.
    package init?(path: String) {
        let descriptor = unsafe ReportPath.withCString(path) { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        source = .descriptor(descriptor)
        size = UInt64(clamping: status.st_size)
    }

    /// A file in memory.
    init(bytes: [UInt8]) {
        source = .bytes(bytes)
        size = UInt64(bytes.count)
    }

    deinit {
        if case .descriptor(let descriptor) = source { close(descriptor) }
    }

    /// The header; nil: it is no 64-bit little-endian ELF file.
    func header() -> [UInt8]? {
        guard let header = read(at: 0, count: 64), header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return nil }
        return header
    }

    /// Why it is not a file of a program in which LaunchGuard runs, as the end of a sentence; nil:
    /// it may be one.
    func refusal() -> String? {
        guard let start = read(at: 0, count: 6), start.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return "is no ELF file" }
        if start[4] != 2 { return "is an ELF file of 32 bits, and the program that ran is one of 64 bits" }
        if start[5] != 1 { return "is an ELF file of the other byte order" }
        return header() == nil ? "is an ELF file that was cut" : nil
    }

    /// The GNU build id in lower-case hexadecimal digits; nil when the file has none or is no
    /// 64-bit ELF file.
    package func buildID() -> String? {
        guard let header = header() else { return nil }
        // A program has its notes in segments; a separate debug file has them only in sections.
        let segments = notes(table: header.value(32, 8), entrySize: 56, count: header.value(56, 2), type: (0, 4), place: 8, size: 32)
        let sections = { (file: borrowing ELFFile) in
            file.notes(table: header.value(40, 8), entrySize: 64, count: header.value(60, 2), type: (4, 7), place: 24, size: 32)
        }
        return segments ?? sections(self)
    }

    /// The build id of the first note area that has one, of at most 64. At the given offsets, the
    /// entries of the table hold their type, and the place and size of their bytes in the file.
    private func notes(
        table: UInt64, entrySize: UInt64, count: UInt64, type: (offset: Int, value: UInt64), place: Int, size: Int
    ) -> String? {
        guard table > 0 else { return nil }
        var areas = 0
        for index in 0..<min(count, 4096) where areas < 64 {
            guard let entry = read(at: table &+ index * entrySize, count: Int(entrySize)) else { return nil }
            guard entry.value(type.offset, 4) == type.value else { continue }
            areas += 1
            guard let notes = read(at: entry.value(place, 8), count: Int(min(entry.value(size, 8), 65536))),
                let id = Self.buildID(inNotes: notes)
            else { continue }
            return id
        }
        return nil
    }

    private static func buildID(inNotes notes: [UInt8]) -> String? {
        var offset = 0
        while offset + 12 <= notes.count {
            let nameSize = Int(notes.value(offset, 4))
            let size = Int(notes.value(offset + 4, 4))
            let name = offset + 12
            let content = name + (nameSize + 3) & ~3
            guard content <= notes.count, content + size <= notes.count else { return nil }
            if notes.value(offset + 8, 4) == 3, nameSize == 4, Array(notes[name..<name + 4]) == Array("GNU\0".utf8) {
                return notes[content..<content + size].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            offset = content + (size + 3) & ~3
        }
        return nil
    }

    /// Those bytes; nil when the file does not have all of them.
    func read(at offset: UInt64, count: Int) -> [UInt8]? {
        guard offset <= size, UInt64(count) <= size - offset, let offset = Int(exactly: offset) else { return nil }
        switch source {
        case .bytes(let bytes): return Array(bytes[offset..<offset + count])
        case .descriptor(let descriptor):
            var bytes = [UInt8](repeating: 0, count: count)
            let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, offset) }
            return got == count ? bytes : nil
        }
    }
}

extension [UInt8] {
    /// A little-endian number of `size` bytes. The caller has checked that the bytes are there.
    func value(_ offset: Int, _ size: Int) -> UInt64 {
        self[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The text that begins there and ends at a NUL, with the bytes, or after `limit` of them.
    func text(at start: Int, limit: Int = 65536) -> String {
        guard indices.contains(start) else { return "" }
        return String(decoding: self[start...].prefix(limit).prefix { $0 != 0 }, as: UTF8.self)
    }
}
