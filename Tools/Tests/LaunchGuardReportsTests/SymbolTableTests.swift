import Foundation
import Testing

@testable import LaunchGuardSymbols
import TestSupport

/// The functions of real programs, by the symbol tables alone. Another reader gives the same names.
@Suite struct SymbolTableTests {
    @Test(arguments: ["cpp", "cpp-O2", "c.so"]) func everyFunctionHasTheNameThatOthersGive(name: String) throws {
        let programs = try Programs.made()
        let path = programs.path(name)
        let addresses = try Self.functions(of: path).flatMap { [$0.start, $0.start + $0.size / 2, $0.start + $0.size - 1] }
        try #require(addresses.count > 8)
        let ours = try Self.tables(of: path, at: addresses).functions
        let theirs = try others(path, addresses)
        for (address, name) in zip(addresses, theirs) {
            let sameFunction = try ours[address].map { found in try Self.functions(of: path).filter { $0.start == found.start }.map(\.name) } ?? []
            #expect(ours[address]?.name == name || sameFunction.contains(name), "0x\(String(address, radix: 16))")
        }
    }

    @Test func behindAFunctionThereIsNone() throws {
        let programs = try Programs.made()
        let path = programs.path("c.so")
        let last = try #require(Self.functions(of: path).max { $0.start < $1.start })
        let addresses = [last.start - 1, last.start + last.size - 1, last.start + last.size, .max]
        let found = try Self.tables(of: path, at: addresses).functions
        #expect(addresses.map { found[$0]?.name == last.name } == [false, true, false, false])
        #expect(found[last.start + last.size] == nil)
    }

    /// The remaining symbols: those of the loader, or those that are compressed.
    @Test func strippedProgramsHaveWhatIsLeft() throws {
        let programs = try Programs.made()
        try programs.run(
            """
            strip -o c-stripped.so c.so; strip -o cpp-stripped cpp-O2
            nm -D c.so --format=posix --defined-only | awk '{print $1}' | sort >dynamic
            nm c.so --format=posix --defined-only | awk '$2 == "T" || $2 == "t" {print $1}' | sort >all
            comm -13 dynamic all >kept
            objcopy --only-keep-debug c.so c.debug
            objcopy -S --remove-section .comment --keep-symbols=kept c.debug c.mini
            xz -kf c.mini
            objcopy --add-section .gnu_debugdata=c.mini.xz c-stripped.so c-mini.so
            """)
        let functions = try Self.functions(of: programs.path("c.so"))
        let hidden = try #require(functions.first { $0.name == "hidden" })
        let shown = try #require(functions.first { $0.name == "shown" })
        let addresses = [hidden.start + 1, shown.start + 1]
        func names(_ name: String) throws -> [String?] {
            let found = try Self.tables(of: programs.path(name), at: addresses).functions
            return addresses.map { found[$0]?.name }
        }
        for (name, expected) in [("c.so", ["hidden", "shown"]), ("c.debug", ["hidden", "shown"]), ("c-stripped.so", [nil, "shown"]), ("c-mini.so", ["hidden", "shown"])] {
            let found = try names(name)
            #expect(found == expected, "\(name)")
        }
        let bare = try Self.tables(of: programs.path("cpp-stripped"), at: [hidden.start])
        #expect(bare.functions.isEmpty && !bare.isWhole && bare.problem == nil)
    }

    @Test func compressedSymbolsSayWhatIsWrong() throws {
        let programs = try Programs.made()
        try programs.run("printf '%1000000s' x >plain; xz -kf plain")
        let compressed = [UInt8](try Data(contentsOf: URL(filePath: programs.path("plain.xz"))))
        let plain = [UInt8](try Data(contentsOf: URL(filePath: programs.path("plain"))))
        #expect(try XZ.bytes(of: compressed, limit: 1_000_000) == plain)
        #expect(throws: XZ.Failure.tooLarge) { try XZ.bytes(of: compressed, limit: 999_999) }
        #expect(throws: XZ.Failure.noLibrary) { try XZ.bytes(of: compressed, limit: 1_000_000, library: "liblzma.so.none") }
        for size in [0, 1, 30, compressed.count / 2, compressed.count - 1] {
            #expect(throws: XZ.Failure.damaged) { try XZ.bytes(of: Array(compressed[..<size]), limit: 1_000_000) }
        }
        #expect("\(XZ.Failure.noLibrary)".contains("install"))
    }

    @Test func foreignFilesAreRefusedByName() throws {
        let folder = try TemporaryFolder()
        let own = [UInt8](try Data(contentsOf: URL(filePath: "/proc/self/exe")).prefix(64))
        let cases: [(String, ClosedRange<Int>?, UInt8)] = [("32 bits", 4...4, 1), ("byte order", 5...5, 2), ("no ELF", 0...0, 1), ("nothing", nil, 0)]
        for (words, place, byte) in cases {
            var bytes = own
            if let place { bytes[place.lowerBound] = byte }
            let refusal = ELFFile(path: try folder.write(bytes, "file"))?.refusal()
            #expect(place == nil ? refusal == nil : refusal?.contains(words) == true, "\(words)")
        }
        #expect(ELFFile(path: try folder.write(Array(own.prefix(63)), "file"))?.refusal() == "is an ELF file that was cut")
    }

    /// A damaged file is read to its end, in bounded time and memory, whatever it says.
    @Test func changedFilesDoNoHarm() throws {
        let programs = try Programs.made()
        try programs.run("xz -kf c.so; objcopy --add-section .gnu_debugdata=c.so.xz c.so c-mini.so; strip c-mini.so")
        let rounds = ProcessInfo.processInfo.environment["LAUNCHGUARD_LONG"] == nil ? 300 : 5000
        for draw in try Seeded.draws("SymbolTableTests/changedFilesDoNoHarm") {
            for name in ["c.so", "c-mini.so"] { try changeAnywhere(programs, name, draw, rounds: rounds) }
        }
    }

    private func changeAnywhere(_ programs: Programs, _ name: String, _ draw: Seeded, rounds: Int) throws {
        var random = draw
        let original = [UInt8](try Data(contentsOf: URL(filePath: programs.path(name))))
        let addresses = try Self.functions(of: programs.path("c.so")).map(\.start)
        let whole = SymbolTables(of: ELFFile(bytes: original), at: addresses)
        try #require(whole.functions.count == Set(addresses).count && whole.problem == nil)
        // Where a change has an effect: the header, and the tables of segments and sections.
        let table = Int(original.value(40, 8))
        let places = Array(0..<1024) + Array(table..<original.count)
        for round in 0..<rounds / 2 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = round % 4 == 0 ? Int.random(in: bytes.indices, using: &random) : places[Int.random(in: places.indices, using: &random)]
                bytes[place] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)][Int.random(in: 0...5, using: &random)]
            }
            if round % 7 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            let file = ELFFile(bytes: bytes)
            _ = (file.buildID(), file.refusal(), file.program())
            let tables = SymbolTables(of: file, at: addresses)
            #expect(tables.functions.allSatisfy { addresses.contains($0.key) && $0.value.start <= $0.key })
        }
    }

    /// Skeletons of split debug information may say anything, too.
    @Test(arguments: [4, 5]) func changedSkeletonsDoNoHarm(version: Int) throws {
        let programs = try Programs.made()
        try programs.run("g++ -g -gdwarf-\(version) -gsplit-dwarf -c shop.cpp -o split.o; g++ split.o -o split")
        let original = [UInt8](try Data(contentsOf: URL(filePath: programs.path("split"))))
        let whole = ELFFile(bytes: original)
        try #require(whole.splitFiles() == [programs.path("split.dwo")])
        let names: Set = [".debug_info", ".debug_abbrev", ".debug_str"]
        let places = whole.sections().filter { names.contains($0.name) }.flatMap { Array(Int($0.offset)..<Int($0.offset + $0.size)) }
        let rounds = ProcessInfo.processInfo.environment["LAUNCHGUARD_LONG"] == nil ? 500 : 20000
        for draw in try Seeded.draws("SymbolTableTests/changedSkeletonsDoNoHarm") {
            var random = draw
            for _ in 0..<rounds {
                var bytes = original
                for _ in 0..<Int.random(in: 1...8, using: &random) { bytes[places[Int.random(in: places.indices, using: &random)]] = UInt8.random(in: 0...255, using: &random) }
                #expect(ELFFile(bytes: bytes).splitFiles().count <= 64)
            }
        }
    }

    /// Sizes that the file does not have.
    @Test func tablesThatAreTooLargeAreRefused() throws {
        let programs = try Programs.made()
        let original = [UInt8](try Data(contentsOf: URL(filePath: programs.path("c.so"))))
        let table = Int(original.value(40, 8))
        let address = try #require(Self.functions(of: programs.path("c.so")).first).start
        for index in 0..<Int(original.value(60, 2)) {
            for value: UInt64 in [0, 1, 1 << 32, 1 << 62, .max] {
                var bytes = original
                for field in [24, 32] {
                    bytes.replaceSubrange(table + index * 64 + field..<table + index * 64 + field + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
                    _ = SymbolTables(of: ELFFile(bytes: bytes), at: [address])
                }
            }
        }
    }

    /// Parts that overlap could make a file of some megabytes cost hours: 65,000 tables of the same
    /// symbols, or as many names that end together. So each has a limit.
    @Test func partsThatOverlapHaveLimits() throws {
        let names = Self.file([.init(type: 3, at: 0, size: 4096), .init(type: 1, at: 0, size: 0)], content: Array(repeating: 65, count: 4096))
        #expect(names.sections().map(\.name.utf8.count) == [64, 64])

        func symbol(_ start: Int) -> [UInt8] { Self.little([(1, 4), (0x12, 2), (1, 2), (start, 8), (0x1000, 8)]) }
        let tables = Self.file([.init(type: 3, at: 0, size: 3), .init(type: 2, at: 3, size: 24), .init(type: 2, at: 27, size: 24)], content: [0, 65, 0] + symbol(0x1000) + symbol(0x2000))
        #expect(SymbolTables(of: tables, at: [0x1800, 0x2800]).functions.mapValues(\.name) == [0x1800: "A"])

        let note = Self.little([(4, 4), (2, 4), (3, 4)]) + Array("GNU\0".utf8) + [0xAB, 0xCD, 0, 0]
        for (empty, id) in [(63, "abcd"), (64, nil)] {
            let notes = Self.file(Array(repeating: .init(type: 7, at: 0, size: 0), count: empty) + [.init(type: 7, at: 0, size: note.count)], content: note)
            #expect(notes.buildID() == id)
        }
    }

    private struct Part {
        var type: UInt8
        var at: Int
        var size: Int
    }

    /// Numbers of so many bytes each.
    private static func little(_ fields: [(value: Int, size: Int)]) -> [UInt8] {
        fields.flatMap { field in (0..<field.size).map { UInt8(truncatingIfNeeded: $0 < 8 ? field.value >> (8 * $0) : 0) } }
    }

    /// A file of those sections, the first of which has all names.
    private static func file(_ sections: [Part], content: [UInt8]) -> ELFFile {
        let start: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1]
        let header = little([(0, 11), (62, 2), (1, 4), (0, 16), (64 + content.count, 8), (0, 10), (64, 2), (sections.count, 2), (0, 2)])
        let table = sections.flatMap { little([(0, 4), (Int($0.type), 4), (0, 16), (64 + $0.at, 8), ($0.size, 8), (0, 24)]) }
        return ELFFile(bytes: start + header + content + table)
    }

    /// As `__libc_start_main@@GLIBC_2.34` in the debug file of a library.
    @Test func versionsAreNoPartOfAName() throws {
        let programs = try Programs.made()
        let source = """
            __attribute__((used)) static int number(int n) { return n; }
            __asm__(".symver number, _ZN2db4openEi@@DB_1");

            """
        try programs.folder.write(Array(source.utf8), "db.c")
        try programs.folder.write(Array("DB_1 { global: *; };\n".utf8), "db.map")
        try programs.run("cc -shared -fPIC -Wl,--version-script=db.map db.c -o db.so; nm db.so | grep -q _ZN2db4openEi@@DB_1")
        let function = try #require(Self.functions(of: programs.path("db.so")).first { $0.name.hasPrefix("_ZN2db4openEi") })
        #expect(try Self.tables(of: programs.path("db.so"), at: [function.start]).functions[function.start]?.name == "_ZN2db4openEi")
    }

    // MARK: - Support

    struct Function: Hashable {
        var name: String
        var start: UInt64
        var size: UInt64
    }

    /// As nm has them.
    static func functions(of path: String) throws -> [Function] {
        let nm = try Tool.run(["--format=posix", "--defined-only", path], program: "/usr/bin/nm")
        return nm.output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, "TtWw".contains(words[1]), let start = UInt64(words[2], radix: 16), let size = UInt64(words[3], radix: 16) else { return nil }
            return size == 0 ? nil : Function(name: String(words[0]), start: start, size: size)
        }
    }

    private static func tables(of path: String, at addresses: [UInt64]) throws -> SymbolTables {
        guard let file = ELFFile(path: path) else { throw CocoaError(.fileNoSuchFile) }
        return SymbolTables(of: file, at: addresses)
    }

    /// The names by llvm-symbolizer, or else by addr2line.
    private func others(_ path: String, _ addresses: [UInt64]) throws -> [String] {
        let words = addresses.map { "0x" + String($0, radix: 16) }
        guard let llvm = LLVMSymbolizer.find() else {
            return try Tool.run(["-f", "-e", path] + words, program: "/usr/bin/addr2line").output.split(separator: "\n").enumerated().filter { $0.offset % 2 == 0 }.map {
                String($0.element)
            }
        }
        let found = try #require(llvm.locations(of: addresses.map { .init(file: path, address: $0) }))
        return addresses.map { found[.init(file: path, address: $0)]?.last?.name ?? "" }
    }
}

/// Small programs, made by this machine's compilers, in a folder of their own.
struct Programs {
    let folder: TemporaryFolder

    static func made() throws -> Programs {
        let programs = Programs(folder: try TemporaryFolder())
        try programs.folder.write(Array(cpp.utf8), "shop.cpp")
        try programs.folder.write(Array(c.utf8), "shop.c")
        try programs.run("g++ -g -O0 shop.cpp -o cpp & g++ -g -O2 shop.cpp -o cpp-O2 & cc -g -O1 -shared -fPIC shop.c -o c.so; wait")
        return programs
    }

    func path(_ name: String) -> String { folder.path + "/" + name }

    func run(_ script: String) throws {
        let result = try Tool.run(["-ec", script], folder: folder.path, program: "/bin/sh")
        try #require(result.status == 0, "\(result.errors)")
    }

    private static let c = """
        __attribute__((noinline)) static int hidden(int n) { return n * 3; }
        __attribute__((noinline)) int shown(int n) { return hidden(n) + 1; }
        int another(int n) { return shown(n) + hidden(n); }
        int (*const table[])(int) = {hidden, shown};
        """

    static let cpp = """
        namespace shop {
        static inline __attribute__((always_inline)) int inner(volatile int *where) { return *where; }
        static inline __attribute__((always_inline)) int middle(volatile int *where) { return inner(where) + 1; }
        __attribute__((noinline)) int outer(volatile int *where, int more) { return middle(where) * more; }
        template <typename T> struct Shelf {
            virtual ~Shelf() { outer(&number, 2); }
            __attribute__((noinline)) T at(int index) const { return T(outer(number ? nullptr : nullptr, index)); }
            volatile int number = 1;
        };
        struct Wide : Shelf<double> {
            __attribute__((noinline)) explicit Wide(int size) { number = size; }
        };
        }
        int main(int argc, char **) {
            shop::Shelf<int> shelf;
            shop::Wide wide(argc);
            return shelf.at(argc) + int(wide.at(argc));
        }

        """
}
