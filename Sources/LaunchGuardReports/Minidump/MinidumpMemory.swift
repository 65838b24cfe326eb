/// The memory of a record: stretches in order, of which no two overlap, since readers refuse a list
/// in which two do.
struct MinidumpMemory {
    struct Stretch {
        var start: UInt64
        var bytes: [UInt8]
        /// The thread whose stack it is; nil: of no stack.
        var threadID: Int32?
        var end: UInt64 { start + UInt64(bytes.count) }
    }

    private(set) var stretches: [Stretch] = []

    /// The bytes of the stacks, and those around the program counters of these crashes. Redacted
    /// values in them are blanked; where it is not known what is redacted, there are no bytes.
    init(_ crashes: [Crash], without secrets: MinidumpSecrets) {
        let stacks = crashes.flatMap { crash in
            (crash.memory ?? []).compactMap { Self.stretch($0.start, $0.bytes, $0.threadID) }
        }
        let beside = crashes.flatMap { crash in
            [crash.stackMemory.flatMap { Self.stretch($0.start, $0.bytes, crash.threadID) }, crash.codeMemory.flatMap { Self.stretch($0.start, $0.bytes, nil) }]
                .compactMap(\.self)
        }
        stretches = Self.apart(stacks)
        for more in beside where stretches.allSatisfy({ $0.end <= more.start || more.end <= $0.start }) { stretches.append(more) }
        stretches.sort { $0.start < $1.start }
        blank(secrets)
        stretches.removeAll(where: \.bytes.isEmpty)
    }

    /// Adjacent stretches are searched as one: a value may stand across the border.
    private mutating func blank(_ secrets: MinidumpSecrets) {
        var start = 0
        while start < stretches.count {
            let end = stretches.indices.dropFirst(start + 1).first { stretches[$0 - 1].end != stretches[$0].start } ?? stretches.count
            var bytes = stretches[start..<end].flatMap(\.bytes)
            secrets.blank(&bytes)
            var rest = bytes[...]
            for index in start..<end {
                let size = stretches[index].bytes.count
                stretches[index].bytes = Array(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            start = end
        }
    }

    /// The stack of a thread: the stretch that holds its stack pointer, or else its first one.
    func stack(of thread: Int32, at pointer: Address?) -> Int? {
        let own = stretches.indices.filter { stretches[$0].threadID == thread }
        return own.first { index in pointer.map { stretches[index].start <= $0.value && $0.value < stretches[index].end } ?? false } ?? own.first
    }

    /// The stretches in order; one that begins in another one loses what is there already.
    private static func apart(_ stretches: [Stretch]) -> [Stretch] {
        var result: [Stretch] = []
        var end: UInt64 = 0
        for var stretch in stretches.sorted(by: { ($0.start, $1.bytes.count) < ($1.start, $0.bytes.count) }) where stretch.end > end {
            if stretch.start < end {
                stretch.bytes.removeFirst(Int(end - stretch.start))
                stretch.start = end
            }
            end = stretch.end
            result.append(stretch)
        }
        return result
    }

    /// From hexadecimal digits; nil: none, or beyond the last address.
    private static func stretch(_ start: Address, _ digits: String?, _ thread: Int32?) -> Stretch? {
        guard let digits, let bytes = LaunchGuardReports.bytes(hex: digits), !bytes.isEmpty, !start.value.addingReportingOverflow(UInt64(bytes.count)).overflow else { return nil }
        return Stretch(start: start.value, bytes: bytes, threadID: thread)
    }
}

/// Bytes of stacks that must not leave the machine: every eight bytes in a row that are also in a
/// redacted value, and the whole value where it has four to seven bytes.
struct MinidumpSecrets {
    /// By their size, as numbers.
    private var parts: [Int: Set<UInt64>] = [:]
    private let isKnown: Bool

    /// nil: the redacted values are not known.
    init(_ values: [[UInt8]]?) {
        isKnown = values != nil
        for value in values ?? [] where value.count >= 4 {
            let size = min(value.count, 8)
            for start in 0...value.count - size { parts[size, default: []].insert(Self.number(value[start..<start + size])) }
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func blank(_ bytes: inout [UInt8]) {
        guard isKnown else { return bytes.removeAll() }
        let whole = bytes
        for (size, numbers) in parts {
            let mask = UInt64.max >> UInt64(64 - size * 8)
            var window: UInt64 = 0
            for (index, byte) in whole.enumerated() {
                window = (window << 8 | UInt64(byte)) & mask
                guard index + 1 >= size, numbers.contains(window) else { continue }
                for place in index + 1 - size...index { bytes[place] = UInt8(ascii: "*") }
            }
        }
    }
}
