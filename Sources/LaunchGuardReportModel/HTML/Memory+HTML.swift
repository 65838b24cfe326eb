internal import LaunchGuardPlatform

/// The memory of the process at the crash, drawn.
extension Crash {
    /// `crash`: the crash that counts, whose addresses are marked.
    func writeMemory(to page: inout HTMLWriter, of crash: Crash) {
        guard let map = memoryMap, !map.mappings.isEmpty else { return }
        page.section("memory", "Memory map") {
            MemoryDrawing(map, marks: crash.marks(in: map)).write(to: &$0)
            $0.folded(UInt64(map.mappings.count).counting("mapping", "mappings")) {
                $0.preformatted(map.mappings.map { "\($0.start)–\($0.end)  \($0.permissions)  \($0.path ?? "")" })
            }
            if map.isCut { $0.warnings(["The record had no room for the rest"]) }
            if let memorySummary { $0.element("p", ["class": "note"], memorySummary) }
        }
    }

    /// The addresses that matter, each with where it is.
    fileprivate func marks(in map: MemoryMap) -> [MemoryDrawing.Mark] {
        func mark(_ name: String, _ id: String, _ address: Address, _ place: String? = nil) -> MemoryDrawing.Mark {
            .init(name: name, id: id, address: address, place: place ?? map.mapping(at: address).map { "in \($0.name)" } ?? "in no mapping")
        }
        return (address.map { [mark("faulting address", "fault", $0, addressPlace)] } ?? [])
            + [mark("program counter", "counter", programCounter), mark("stack pointer", "pointer", stackPointer)]
    }
}

/// Draws mappings in the order of their addresses. A stretch is the wider, the larger it is, by the
/// logarithm: a library of a megabyte beside a gigabyte of heap can still be seen. Room between
/// mappings is a gap.
private struct MemoryDrawing {
    struct Mark {
        var name: String
        var id: String
        var address: Address
        var place: String
    }

    private let map: MemoryMap
    private let marks: [Mark]
    private let mappings: [Mapping]
    /// Where each mapping begins, and its width, in units of the drawing.
    private var stretches: [(start: Double, width: Double)] = []
    private let scale: Double
    private static let width = 1000.0, gap = 0.8

    init(_ map: MemoryMap, marks: [Mark]) {
        self.map = map
        self.marks = marks
        mappings = map.mappings.sorted { $0.start < $1.start }
        var place = 0.0
        for (index, mapping) in mappings.enumerated() {
            if index > 0, mappings[index - 1].end < mapping.start { place += Self.gap }
            let width = 1 + log2(Double(max(1, (mapping.end.value &- mapping.start.value) / 4096)))
            stretches.append((place, width))
            place += width
        }
        scale = Self.width / max(1, place)
    }

    func write(to page: inout HTMLWriter) {
        page.element("figure", ["class": "drawing"]) {
            $0.element("figcaption", [:], "Mappings by address, low ones on the left; the width is the logarithm of the size")
            $0.element("svg", ["viewBox": "0 0 1000 60", "preserveAspectRatio": "none", "role": "img", "aria-label": "Memory map", "class": "memory"]) {
                for (mapping, stretch) in zip(mappings, stretches) {
                    $0.element("rect", ["class": mapping.use.rawValue, "x": (stretch.start * scale).text, "y": "12", "width": max(0.8, stretch.width * scale).text, "height": "36"]) {
                        $0.element("title", [:], "\(mapping.start.short)–\(mapping.end.short) \(mapping.permissions) \(mapping.path ?? "")")
                    }
                }
                for mark in marks {
                    let x = place(of: mark.address).text
                    $0.shape("line", ["class": "mark " + mark.id, "x1": x, "x2": x, "y1": "0", "y2": "60"])
                }
            }
            $0.element("ul", ["class": "legend"]) { page in
                for mark in marks {
                    page.element("li") {
                        $0.element("span", ["class": "key " + mark.id], "")
                        $0.text("\(mark.name) \(mark.address.short) \(mark.place)")
                    }
                }
                for use in Mapping.Use.allCases where mappings.contains(where: { $0.use == use }) {
                    let bytes = mappings.reduce(UInt64(0)) { $1.use == use ? $0 &+ ($1.end.value &- $1.start.value) : $0 }
                    page.element("li") {
                        $0.element("span", ["class": "key " + use.rawValue], "")
                        $0.text("\(use.name), \(bytes.bytesText)")
                    }
                }
            }
        }
    }

    /// Where an address stands: within its mapping, or before the next one.
    private func place(of address: Address) -> Double {
        guard let index = mappings.firstIndex(where: { address < $0.end }) else { return Self.width - 1 }
        let (mapping, stretch) = (mappings[index], stretches[index])
        guard mapping.contains(address) else { return max(1, (stretch.start - Self.gap / 2) * scale) }
        let part = Double(address.value - mapping.start.value) / Double(mapping.end.value - mapping.start.value)
        return (stretch.start + stretch.width * part) * scale
    }
}

extension Mapping {
    /// Use of a mapping, by its permissions.
    fileprivate enum Use: String, CaseIterable {
        case code, data, constants, reserved

        var name: String {
            switch self {
            case .code: "code (x)"
            case .data: "data (rw)"
            case .constants: "constants (r)"
            case .reserved: "reserved, no access"
            }
        }
    }

    fileprivate var use: Use {
        permissions.contains("x") ? .code : permissions.contains("w") ? .data : permissions.contains("r") ? .constants : .reserved
    }
}
