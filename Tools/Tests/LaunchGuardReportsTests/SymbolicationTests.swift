import Foundation
import LaunchGuardReportModel
import Testing

@testable import LaunchGuardSymbols

@Suite struct SymbolicationTests {
    @Test(.enabled(if: LLVMSymbolizer.find() != nil, "llvm-symbolizer is not installed"))
    func aFunctionOfThisProgramIsFound() throws {
        let (addresses, line) = addressesOfCallers()
        var report = try RunReport.ofThisProcess(addresses: addresses)
        try Symbolicator().symbolicate(&report)
        let frames = try #require(report.crash?.framePointerStack?.frames)
        let index = try #require(frames.firstIndex { $0.symbols?.last?.name.contains("addressesOfCallers()") == true })
        let symbol = try #require(frames[index].symbols?.last)
        #expect(symbol.file?.hasSuffix("SymbolicationTests.swift") == true)
        #expect(symbol.line == line)
        #expect(symbol.mangledName?.hasPrefix("$s") == true)
        #expect(symbol.offset ?? 0 > 0)
        let caller = try #require(frames[index + 1].symbols?.last)
        #expect(caller.name.contains("aFunctionOfThisProgramIsFound()"))
        #expect(report.problems.filter { $0.part.hasSuffix("/" + (frames[index].module ?? "").split(separator: "/").last!) }.isEmpty)
    }

    /// As after dlopen("./program"): the memory map has the path, or the file is beside the
    /// executable.
    @Test(.enabled(if: LLVMSymbolizer.find() != nil, "llvm-symbolizer is not installed"), arguments: ["map", "executable", "neither"])
    func aModuleLoadedByARelativePathIsFound(by way: String) throws {
        var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
        let module = try #require(report.modules?[0])
        report.modules?[0].path = "./" + module.name
        report.identity?.executable = way == "executable" ? String(module.path.dropLast(module.name.count)) + "program" : "/nowhere/program"
        let mapping = Mapping(start: module.start, end: module.end, permissions: "r--p", path: module.path)
        report.crash?.memoryMap = way == "map" ? MemoryMap(mappings: [mapping]) : nil
        try Symbolicator().symbolicate(&report)
        let frames = try #require(report.crash?.framePointerStack?.frames)
        #expect(frames.contains { $0.symbols != nil } == (way != "neither"))
        #expect(report.problems.map(\.code) == (way == "neither" ? ["not-found"] : []))
    }

    /// A program without line tables: the symbol table names the last file that was linked, which
    /// the function is not in.
    @Test func withoutALineThereIsNoFile() throws {
        let script = """
            #!/bin/sh
            echo '[{"Symbol":[{"FunctionName":"f","FileName":"crtstuff.c","Line":0,"Column":0,"StartAddress":"0x10"}]},
                   {"Symbol":[{"FunctionName":"g","FileName":"/src/g.c","Line":3,"Column":0,"StartAddress":"0x20"}]}]'
            """
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(script.utf8), "llvm-symbolizer")
        let queries = [Location.Query(file: "/a", address: 0x10), .init(file: "/a", address: 0x20)]
        let found = try #require(LLVMSymbolizer(program: "/bin/sh", command: [path]).locations(of: queries))
        #expect(queries.map { found[$0]?.first?.name } == ["f", "g"] && queries.map { found[$0]?.first?.file } == [nil, "/src/g.c"])
    }

    /// A program with lines, its address of `main`, and the module of a report that names it. Nil:
    /// no compiler is here, or it makes none such.
    private static func program(in folder: TemporaryFolder, _ prepare: String = ":") throws -> (module: RunModule, address: UInt64)? {
        // Few lines would not be worth their compression.
        let others = (0..<300).map { "int f\($0)(int x) {\n    return x + \($0);\n}\n" }.joined()
        try folder.write(Array(("int main(void) { return 0; }\n" + others).utf8), "main.c")
        let script = "cd \(folder.path) && cc -g -O0 -Wl,--build-id -o program main.c && nm program > names && \(prepare)"
        guard try Tool.run(["-c", script], program: "/bin/sh").status == 0 else { return nil }
        let names = try String(contentsOfFile: folder.path + "/names", encoding: .utf8)
        let main = try #require(names.split(separator: "\n").first { $0.hasSuffix(" T main") })
        guard let file = ELFFile(path: folder.path + "/program") else { return nil }
        let id = file.buildID()
        let module = RunModule(path: folder.path + "/program", buildID: id, start: Address(0), end: Address(1 << 32), bias: Address(0))
        return (module, try #require(UInt64(main.prefix(16), radix: 16)))
    }

    private static func symbols(of module: RunModule, at address: UInt64, _ symbolicator: Symbolicator) throws -> (symbol: Symbol?, problems: [Problem]) {
        var report = try Sample.crash()
        report.modules = [module]
        report.crash?.dwarfStack = nil
        report.crash?.framePointerStack = Stack(method: .framePointers, frames: [Frame(address: Address(address), lookup: Address(address))])
        report.crash?.threads = nil
        try symbolicator.symbolicate(&report)
        return (report.crash?.framePointerStack?.frames.first?.symbols?.last, report.problems)
    }

    /// Inlined functions too, and those in namespaces and types, by what either compiler writes to
    /// a separate file.
    @Test(arguments: ["g++", "clang++"]) func functionsThatNeverReturn(compiler: String) throws {
        let folder = try TemporaryFolder()
        let text = """
            #include <stdlib.h>
            namespace shop {
            [[noreturn, gnu::always_inline]] static inline void inner() { abort(); }
            [[noreturn, gnu::noinline]] void outer(int x) { if (x) inner(); exit(1); }
            struct Door { [[gnu::noinline]] static void plain(int x) { if (x > 2) inner(); } };
            }
            int main(int count, char **words) { shop::Door::plain(count); shop::outer(count); return !words; }
            """
        try folder.write(Array(text.utf8), "main.cpp")
        let script = """
            cd \(folder.path) && command -v \(compiler) && \(compiler) -g -O1 -o program main.cpp && objcopy --only-keep-debug program program.debug || exit
            objdump -d --no-show-raw-insn program | awk '/>:$/ { name = $2 } /call.*<abort/ { print name $1 }'
            """
        let found = try Tool.run(["-c", script], program: "/bin/sh")
        guard found.status == 0 else { return }
        for place in found.output.split(separator: "\n").filter({ $0.hasPrefix("<") }) {
            let parts = place.split(separator: ":")
            let address = try #require(UInt64(parts[1], radix: 16))
            let functions = FunctionAttributes.locations(in: folder.path + "/program.debug", at: [address])?[address]
            #expect(functions?.map(\.isNoReturn) == [true, parts[0].contains("outer")], "\(place)")
        }
        #expect(found.output.contains("plain") && found.output.contains("outer"))
        #expect(FunctionAttributes.locations(in: folder.path + "/main.cpp", at: [1]) == nil)
    }

    /// A packager keeps debug files in folders of folders.
    @Test(.enabled(if: LLVMSymbolizer.find() != nil, "llvm-symbolizer is not installed")) func debugFilesAreFoundBelowTheirFolder() throws {
        let folder = try TemporaryFolder()
        let separate = "mkdir -p debug/v1/amd64 && objcopy --only-keep-debug program debug/v1/amd64/program.debug && strip program"
        guard let (module, address) = try Self.program(in: folder, separate) else { return }
        #expect(try Self.symbols(of: module, at: address, Symbolicator()).symbol?.line == nil)
        let found = try Self.symbols(of: module, at: address, Symbolicator(debugDirectories: [folder.path + "/debug"]))
        #expect(found.symbol?.line == 1 && found.symbol?.file?.hasSuffix("main.c") == true, "\(found)")
    }

    /// A symbolizer that knows no line of a file: the next one is asked, and where there is none,
    /// the reason is named.
    @Test func compressedLinesAreReadByAnotherSymbolizer() throws {
        let folder = try TemporaryFolder()
        guard let (module, address) = try Self.program(in: folder, "objcopy --compress-debug-sections=zstd program") else { return }
        let blind = try folder.write(Array("#!/bin/sh\necho '[{\"Symbol\":[{\"FunctionName\":\"main\",\"FileName\":\"\",\"Line\":0,\"Column\":0}]}]'\n".utf8), "blind")
        let first = Symbolicator.Way.program("/bin/sh", [blind])
        let own = try Self.symbols(of: module, at: address, Symbolicator([first, .program(Tool.path, ["symbolize"])]))
        #expect(own.symbol?.name == "main" && own.symbol?.line == 1, "\(own)")
        let alone = try Self.symbols(of: module, at: address, Symbolicator([first]))
        #expect(alone.symbol?.name == "main" && alone.problems.contains { $0.message.contains("compressed with zstd") }, "\(alone)")
    }

    @Test(.enabled(if: LLVMSymbolizer.find() != nil, "llvm-symbolizer is not installed")) func aMissingAlternateFileIsNamed() throws {
        let folder = try TemporaryFolder()
        let link = "printf '../common.debug\\000abcdefgh' > link && objcopy --add-section .gnu_debugaltlink=link program"
        guard let (module, address) = try Self.program(in: folder, link) else { return }
        let found = try Self.symbols(of: module, at: address, Symbolicator())
        #expect(found.problems.contains { $0.code == "alternate-file" && $0.message.contains("/../common.debug, which is not on this machine") }, "\(found)")
    }

    @Test func aFileWithAnotherBuildIDIsRefused() throws {
        var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
        let real = try #require(report.modules?[0].buildID)
        report.modules?[0].buildID = (real.hasPrefix("00") ? "ff" : "00") + real.dropFirst(2)
        try? Symbolicator().symbolicate(&report)
        #expect(report.crash?.framePointerStack?.frames.allSatisfy { $0.symbols == nil } == true)
        let problem = try #require(report.problems.first { $0.code == "build-id" })
        let wanted = try #require(report.modules?[0].buildID)
        #expect(problem.message.contains(real) && problem.message.contains(wanted))
    }

    @Test func filesThatCannotBeUsedAreNamed() throws {
        for (path, code) in [("/nonexistent/program", "not-found"), ("/dev/zero", "not-found"), ("/etc/passwd", "build-id")] {
            var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
            report.modules?[0].path = path
            try Symbolicator().symbolicate(&report)
            #expect(report.problems.map(\.code) == [code], "\(path)")
        }
    }

    /// The frames have their functions all the same.
    @Test(arguments: ["/nonexistent/llvm-symbolizer", "/bin/false", "/bin/echo"])
    func aSymbolizerThatDoesNotWorkIsNamed(program: String) throws {
        var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
        let failure = #expect(throws: Symbolicator.Failure.self) { try Symbolicator([.program(program)]).symbolicate(&report) }
        #expect(failure?.description == "\(program) does not work; functions are shown without lines")
        let symbol = report.crash?.framePointerStack?.frames.compactMap { $0.symbols?.last }.first { $0.name.contains("addressesOfCallers()") }
        #expect(symbol?.line == nil && symbol?.offset ?? 0 > 0)
    }

    @Test func withoutASymbolizerFunctionsAreFound() throws {
        var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
        try Symbolicator([]).symbolicate(&report)
        let symbols = report.crash?.framePointerStack?.frames.compactMap(\.symbols) ?? []
        #expect(symbols.contains { $0.count == 1 && $0[0].name.contains("addressesOfCallers()") && $0[0].line == nil && $0[0].mangledName != nil })
        let problem = try #require(report.problems.first)
        #expect(report.problems.count == 1 && problem.code == "no-lines" && problem.message.contains("--symbolizer"))
    }

    @Test func anotherSymbolizerIsAskedWhereOneDoesNotWork() throws {
        var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
        try Symbolicator([.program("/bin/false"), .program(Tool.path, ["symbolize"])]).symbolicate(&report)
        let symbols = report.crash?.framePointerStack?.frames.compactMap { $0.symbols?.last } ?? []
        #expect(symbols.contains { $0.name.contains("addressesOfCallers()") && $0.line != nil })
    }

    @Test func theSymbolizerIsThatOfTheToolchainOrInPATH() throws {
        func program(_ name: String, in folder: TemporaryFolder) throws -> String {
            let path = try folder.write(Array("#!/bin/sh\n".utf8), name)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }
        let folder = try TemporaryFolder(), toolchain = try TemporaryFolder()
        let ordinary = try program("llvm-symbolizer", in: folder), newer = try program("llvm-symbolizer", in: toolchain)
        _ = try program("swift", in: toolchain)
        #expect(LLVMSymbolizer.find(environment: ["PATH": "/nonexistent:\(folder.path):/usr/bin"])?.program == ordinary)
        #expect(LLVMSymbolizer.find(environment: ["PATH": "\(folder.path):\(toolchain.path)"])?.program == newer)
    }

    @Test(arguments: [
        ("$s1t2DBV4openyS2iF", "DB.open(_:)"), ("_ZN1a1B1fIdEEiT_", "int a::B::f<double>(double)"), ("main", "main"), ("$s4testyycfU0_", "closure #2 in main"), ("$sfoo", "$sfoo"), ("", ""),
    ])
    func namesAreDemangled(mangled: String, name: String) {
        #expect(Demangler.name(mangled) == name)
    }

    @Test(arguments: [
        ("St13runtime_error", "std::runtime_error"), ("N1a1BE", "a::B"), ("i", "int"), ("Foo", nil), ("", nil), ("\u{1B}[31m", nil),
        ("St6vectorIiSaIiEE", "std::vector<int, std::allocator<int>>"),
    ] as [(String, String?)])
    func namesOfTypesAreDemangled(mangled: String, name: String?) {
        #expect(Demangler(program: nil).typeNames(of: [mangled])[mangled]?.replacing("> >", with: ">>") == name)
    }

    /// 400 letters that stand for 2^36 words.
    private static let endless = "_Z1f1AIiiE" + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".map { "S_IS\($0)_S\($0)_E" }.joined()

    @Test(.timeLimit(.minutes(10))) func aNameWithoutAnEndCostsNoOtherOneItsOwn() {
        let names = ["_ZN1a1B1fEv", Self.endless, "_ZN1a1B1gEv", "main", "$s1t2DBV4openyS2iF"]
        let found = Demangler(program: [Tool.path, "demangle"]).names(of: Set(names))
        #expect(names.map { found[$0] } == ["a::B::f()", names[1], "a::B::g()", "main", "DB.open(_:)"])
    }

    @Test(.enabled(if: LLVMSymbolizer.find() != nil, "llvm-symbolizer is not installed"))
    func everyStackOfAReportHasSymbols() throws {
        var report = try RunReport.ofThisProcess(addresses: addressesOfCallers().addresses)
        let stack = try #require(report.crash?.framePointerStack)
        report.crash?.threads = [ThreadState(threadID: 1, how: .captured, stack: stack), ThreadState(threadID: 2, how: .masked)]
        report.crash?.possibleFrames = Array(stack.frames.dropFirst())
        report.otherCrashes = [try #require(report.crash)]
        report.otherCrashes?[0].threads = nil
        report.crash?.framePointerStack = nil
        report.crash?.dwarfStack = nil
        try Symbolicator().symbolicate(&report)
        #expect(names(report.otherCrashes?[0].framePointerStack?.frames) && names(report.otherCrashes?[0].possibleFrames))
        func names(_ frames: [Frame]?) -> Bool {
            (frames ?? []).contains { $0.symbols?.last?.name.contains("everyStackOfAReportHasSymbols()") == true }
        }
        #expect(names(report.crash?.threads?[0].stack?.frames) && names(report.crash?.possibleFrames))
        #expect(report.crash?.reason == nil)
    }

    @Test(.enabled(if: LLVMSymbolizer.find() != nil, "llvm-symbolizer is not installed"))
    func snapshotsHaveSymbolsWithAndWithoutACrash() throws {
        let addresses = addressesOfCallers().addresses
        for crashed in [true, false] {
            var report = try RunReport.ofThisProcess(addresses: addresses)
            let stack = try #require(report.crash?.framePointerStack)
            let threads = [ThreadState(threadID: 1, how: .silent), ThreadState(threadID: 2, how: .captured, stack: stack)]
            report.snapshots = [
                Snapshot(kind: .hang, threadID: 2, sinceNanoseconds: 0, takenNanoseconds: 0, threads: threads),
                Snapshot(kind: .deadline, threadID: 2, sinceNanoseconds: 0, takenNanoseconds: 0, threads: threads),
                Snapshot(kind: .deadline, threadID: 3, sinceNanoseconds: 0, takenNanoseconds: 0),
            ]
            report.crash?.framePointerStack = nil
            report.crash?.dwarfStack = nil
            if !crashed { report.crash = nil }
            try Symbolicator().symbolicate(&report)
            let symbolicated = report.snapshots?.map { snapshot in
                snapshot.threads?.last?.stack?.frames.contains {
                    $0.symbols?.last?.name.contains("snapshotsHaveSymbolsWithAndWithoutACrash()") == true
                }
            }
            #expect(symbolicated == [true, true, nil])
        }
    }

    @Test func pathsThatCouldChangeTheQuestionAreRefused() {
        #expect(LLVMSymbolizer.canName("/opt/my app/été"))
        #expect(!LLVMSymbolizer.canName("/tmp/a\" 0x1\nCODE \"/etc/passwd"))
        #expect(!LLVMSymbolizer.canName("/tmp/\u{FFFD}"))
    }

    @Test func aProgramThatHangsOrFloodsIsStopped() {
        #expect(Subprocess.output(of: "/bin/sleep", ["60"], seconds: 1) == nil)
        #expect(Subprocess.output(of: "/bin/cat", ["/dev/zero"], limit: 1 << 20) == nil)
        #expect(Subprocess.output(of: "/bin/echo", ["a b"]) == Array("a b\n".utf8))
    }

    @Test func theBuildIDIsReadFromTheNotes() throws {
        let folder = try TemporaryFolder()
        let whole = elf(note: note(id: [0xAB, 0x01, 0xCD]))
        #expect(ELFFile(path: try folder.write(whole, "whole"))?.buildID() == "ab01cd")
        for count in 0..<whole.count - 1 {
            #expect(ELFFile(path: try folder.write(Array(whole[..<count]), "cut"))?.buildID() == nil, "\(count) bytes")
        }
        var endless = whole
        endless[64 + 32..<64 + 40] = [255, 255, 255, 255, 255, 255, 255, 255]
        #expect(ELFFile(path: try folder.write(endless, "endless"))?.buildID() == nil)
        #expect(ELFFile(path: folder.path)?.buildID() == nil)
        #expect(ELFFile(path: "/dev/zero")?.buildID() == nil)
    }

    // MARK: - Support

    @inline(never) private func addressesOfCallers() -> (addresses: [UInt64], line: Int) {
        let (addresses, line) = (Thread.callStackReturnAddresses, #line)
        return ([0] + addresses.map(\.uint64Value), line)
    }

    private func note(id: [UInt8]) -> [UInt8] {
        [4, 0, 0, 0, UInt8(id.count), 0, 0, 0, 3, 0, 0, 0] + Array("GNU\0".utf8) + id + [0]
    }

    /// The smallest ELF file with one segment of notes.
    private func elf(note: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 + 56)
        bytes.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
        bytes[32] = 64
        bytes[56] = 1
        bytes[64] = 4
        bytes[64 + 8] = 120
        bytes[64 + 32] = UInt8(note.count)
        return bytes + note
    }
}

extension RunReport {
    /// A report in which this process crashed at the first address; the others are return
    /// addresses. Its one module is the program that runs.
    fileprivate static func ofThisProcess(addresses: [UInt64]) throws -> RunReport {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // String(contentsOfFile:) reads the first 4 KiB of such a file.
        let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
        let maps = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        let bounds = maps.filter { $0.hasSuffix(" " + path) }.flatMap {
            $0.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
        }
        let module = RunModule(
            path: path, buildID: ELFFile(path: path)?.buildID(), start: Address(try #require(bounds.min())),
            end: Address(try #require(bounds.max())), bias: Address(try #require(bounds.min())))
        var report = try Sample.crash()
        report.problems = []
        report.modules = [module]
        report.crash?.framePointerStack = Stack(
            method: .framePointers,
            frames: addresses.enumerated().map { index, address in
                Frame(address: Address(address), lookup: Address(index == 0 ? address : address - 1))
            })
        return report
    }
}
