// The layout of a minidump: a header, a directory of streams, and data at places that the streams
// name. Structures and numbers are those of Microsoft's minidumpapiset.h; what is there for Linux
// comes from Breakpad (src/google_breakpad/common/minidump_format.h) and Crashpad
// (minidump/minidump_extensions.h).

/// Bytes of a minidump, in which every number is little-endian.
struct MinidumpBytes {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func add(_ location: MinidumpLocation) {
        add(location.size)
        add(location.offset)
    }

    mutating func add(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    mutating func add(zeros count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

    /// Replaces bytes that are there already.
    mutating func put(_ part: MinidumpBytes, at offset: Int) {
        bytes.replaceSubrange(offset..<offset + part.bytes.count, with: part.bytes)
    }
}

/// MINIDUMP_LOCATION_DESCRIPTOR. All zero: nothing is there.
struct MinidumpLocation: Hashable {
    var size: UInt32 = 0
    var offset: UInt32 = 0
}

/// A minidump that grows: first what a stream points to, then the stream.
struct MinidumpFile {
    /// Kinds of streams: MINIDUMP_STREAM_TYPE, and the numbers of Breakpad ("Gg") and Crashpad
    /// ("CP").
    enum Stream: UInt32 {
        case threadList = 3
        case moduleList = 4
        case memoryList = 5
        case exception = 6
        case systemInfo = 7
        case miscInfo = 15
        case threadNames = 24
        case breakpadInfo = 0x4767_0001
        case linuxProcStatus = 0x4767_0004
        case linuxMaps = 0x4767_0009
        case crashpadInfo = 0x4350_0001
    }

    private static let headerSize = 32
    private var file = MinidumpBytes()
    private var streams: [(kind: Stream, location: MinidumpLocation)] = []

    init() {
        file.add(zeros: Self.headerSize)
    }

    /// The number of bytes so far.
    var size: Int { file.bytes.count }

    /// Appends data at a multiple of eight. An offset that is too large for the format shows in
    /// `finished`.
    mutating func append(_ part: MinidumpBytes) -> MinidumpLocation {
        file.add(zeros: -size & 7)
        let offset = size
        file.add(bytes: part.bytes)
        return MinidumpLocation(size: UInt32(truncatingIfNeeded: part.bytes.count), offset: UInt32(truncatingIfNeeded: offset))
    }

    /// The place of a MINIDUMP_STRING: its size in bytes, UTF-16, and a NUL that does not count.
    mutating func append(_ text: String) -> UInt32 {
        var part = MinidumpBytes()
        part.add(UInt32(truncatingIfNeeded: text.utf16.count * 2))
        for unit in text.utf16 { part.add(unit) }
        part.add(UInt16(0))
        return append(part).offset
    }

    /// The place of a MinidumpUTF8String of Crashpad.
    mutating func append(utf8 text: String) -> UInt32 {
        var part = MinidumpBytes()
        part.add(UInt32(truncatingIfNeeded: text.utf8.count))
        part.add(bytes: text.utf8)
        part.add(UInt8(0))
        return append(part).offset
    }

    mutating func add(_ kind: Stream, _ part: MinidumpBytes) {
        streams.append((kind, append(part)))
    }

    /// The whole file; nil: it would be larger than offsets of 32 bits can name.
    consuming func finished(seconds: UInt64) -> [UInt8]? {
        var directory = MinidumpBytes()
        for (kind, location) in streams {
            directory.add(kind.rawValue)
            directory.add(location)
        }
        let place = append(directory)
        guard UInt32(exactly: size) != nil else { return nil }
        var header = MinidumpBytes()
        header.add(bytes: "MDMP".utf8)
        header.add(UInt32(0xA793))  // MINIDUMP_VERSION
        header.add(UInt32(streams.count))
        header.add(place.offset)
        header.add(UInt32(0))  // checksum: nobody writes it
        header.add(UInt32(clamping: seconds))
        header.add(UInt64(0))  // MiniDumpNormal
        file.put(header, at: 0)
        return file.bytes
    }
}
