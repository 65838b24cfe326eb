internal import FoundationEssentials
internal import Runtime

/// Lines by the `Runtime` module of the Swift toolchain, which is part of the tool. The module
/// reads a file without any check, so that this is called in a process of its own only: there it
/// answers as `llvm-symbolizer` does.
package enum SwiftSymbolizer {
    /// The answer of `llvm-symbolizer --output-style=JSON` to the same arguments; nil: there is
    /// none.
    package static func answer(to arguments: [String]) -> [UInt8]? {
        let inputs = arguments.filter { $0.hasPrefix("CODE ") }
        let queries = inputs.compactMap(query)
        guard queries.count == inputs.count else { return nil }
        var found: [Location.Query: [Location]] = [:]
        for (file, queries) in Dictionary(grouping: queries, by: \.file) {
            let addresses = queries.map(\.address)
            guard let locations = arguments.contains(FunctionAttributes.option) ? FunctionAttributes.locations(in: file, at: addresses) : locations(in: file, at: addresses) else { continue }
            for query in queries { found[query] = locations[query.address] }
        }
        let answers = queries.map { LLVMSymbolizer.Answer(Symbol: (found[$0] ?? []).map(LLVMSymbolizer.Answer.Entry.init)) }
        return (try? JSONEncoder().encode(answers)).map(Array.init)
    }

    /// `CODE "file" 0xaddress`
    private static func query(_ input: String) -> Location.Query? {
        let parts = input.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix(" 0x"), let address = UInt64(parts[2].dropFirst(3), radix: 16) else { return nil }
        return Location.Query(file: String(parts[1]), address: address)
    }

    private static func locations(in file: String, at addresses: [UInt64]) -> [UInt64: [Location]]? {
        guard let backtrace = backtrace(in: file, at: addresses),
            let symbolicated = backtrace.symbolicated(with: backtrace.images, options: [.showInlineFrames, .showSourceLocations])
        else { return nil }
        var found: [UInt64: [Location]] = [:]
        for frame in symbolicated.frames {
            guard case .programCounter(let address) = frame.captured, let address = UInt64(address), let symbol = frame.symbol else { continue }
            let place = symbol.sourceLocation
            let start = frame.inlined || symbol.offset < 0 ? nil : address - UInt64(symbol.offset)
            found[address, default: []].append(
                Location(name: symbol.rawName, file: place?.path, line: place?.line, column: place?.column, start: start))
        }
        return found
    }

    /// A stack of those addresses in a process where the file alone is loaded, at the addresses
    /// that are written in it. The module makes one only out of its compact formats, of which that
    /// of modules begins with the system's name or, in older toolchains, does not.
    private static func backtrace(in file: String, at addresses: [UInt64]) -> Backtrace? {
        let word64: UInt8 = 2
        var stack = [word64]
        for address in Set(addresses).sorted() {
            let programCounter: UInt8 = 0b0001_0000
            let isAbsolute: UInt8 = 0b1000
            stack += [programCounter | isAbsolute | 7] + address.bigEndianBytes
        }
        stack.append(0)
        let eightBytesEach: UInt8 = 0b0011_1111
        let start = ELFFile(path: file)?.program()?.start ?? 0
        var module = [1, eightBytesEach] + start.bigEndianBytes + (UInt64(1) << 62).bigEndianBytes + [0]
        let path = Array(file.utf8)
        for start in stride(from: 0, to: path.count, by: 63) {
            let part = path[start..<min(start + 63, path.count)]
            module += [UInt8(part.count)] + part
        }
        module.append(0)
        let system = Array("Linux".utf8)
        for modules in [[word64, UInt8(system.count)] + system + module, [word64] + module] {
            let fields = ["architecture": "", "backtrace": base64(stack), "imageMap": base64(modules)]
            guard let json = try? JSONEncoder().encode(fields), let backtrace = try? JSONDecoder().decode(Backtrace.self, from: json),
                let first = backtrace.images?.first, first.path == file
            else { continue }
            return backtrace
        }
        return nil
    }

    /// The module takes no padding.
    private static func base64(_ bytes: [UInt8]) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * UInt64($0))) }
    }
}

extension LLVMSymbolizer.Answer.Entry {
    fileprivate init(_ location: Location) {
        FunctionName = location.name
        FileName = location.file
        Line = location.line
        Column = location.column
        StartAddress = location.start.map { "0x" + String($0, radix: 16) }
        NoReturn = location.isNoReturn ? true : nil
    }
}
