import Testing

@testable import LaunchGuardReportModel
@testable import LaunchGuardSymbols

/// The bug key, by hand-made reports: docs/FINGERPRINT.md.
@Suite struct BugKeyTests {
    @Test(arguments: [("/home/anna/a.c", "~/a.c"), ("/media/usb/src/a.c", "~/src/a.c"), ("/usr/src/a.c", "/usr/src/a.c"), ("/root", "~"), ("", "")])
    func aPathInAnExport(path: String, shown: String) {
        #expect(Reader.pathWithoutHome(path) == shown)
    }

    @Test func theDigest() {
        // As Python's hashlib.blake2s(text, key=b"LG the bug key 2", digest_size=16) has them.
        #expect(Reader.bugKeyDigest("") == "fbc80ed162a761ec14d0e9beea43b692")
        #expect(Reader.bugKeyDigest(String(repeating: "abc ", count: 100)) == "c8bab860838eefd5f2cdc49666895d4c")
        #expect(Reader.bugKeyDigest(String(repeating: "x", count: 64)) == "24334fc7a6ffbfa29a70b65e4290243f")
    }

    @Test(arguments: [
        ("store", nil, "store"),
        ("store.1234", nil, "store"),
        ("void player::store<int>(item*, std::vector<int, std::allocator<int> > const&)", "_ZN6player5storeIiEEvP4itemRKSt6vector", "player::store"),
        ("Cache<std::__cxx11::basic_string<char> >::operator<<(int)", "_ZN5CacheIxElsEi", "Cache::operator<<"),
        ("A::operator int() const", "_ZNK1AcviEv", "A::operator int"),
        ("A::operator()(int)", "_ZN1AclEi", "A::operator()"),
        ("bool A::operator< <int>(A const&) const", "_ZNK1AltIiEEbRKS_", "A::operator<"),
        ("player::(anonymous namespace)::store(int)", "_ZN6player12_GLOBAL__N_15storeEi", "store"),
        ("player::store(int)", "_ZN6playerL5storeEi", "store"),
        ("use((anonymous namespace)::item*)", "_Z3usePN12_GLOBAL__N_14itemE", "use"),
        ("main::{lambda(int)#1}::operator()(int) const", "_ZZ4mainENKUliE_clEi", "main::lambda"),
        ("main::$_0::operator()(int) const", "_ZZ4mainENK3$_0clEi", "main::lambda"),
        ("player::open(int)::$_0::operator()(int) const", "_ZZN6playerL4openEiENK3$_0clEi", "open::lambda"),
        ("specialized Player.name()", "$s6Player4nameSSyFTf4n_g", "Player.name()"),
        ("(2) suspend resume partial function for load<A>(_:)", "$s6Player4loadyyYaFTY1_", "load(_:)"),
        ("<app::Cache<u8> as app::Load>::load::<u8>", "_RINvX", "<app::Cache as app::Load>::load"),
    ] as [(String, String?, String)])
    func names(written: String, mangled: String?, wanted: String) {
        #expect(FunctionName.normalised(Symbol(name: written, mangledName: mangled)) == wanted)
    }

    @Test func aLambdaThatIsInlined() {
        let outer = Symbol(name: "player::open(int)", mangledName: "_ZN6player4openEi")
        #expect(FunctionName.normalised(Symbol(name: "operator()", isInlined: true), in: outer) == "player::open::lambda")
    }

    /// No name, however hostile, is a reason to trap or to stay.
    @Test(arguments: ["<<<<", ">>>>", "operator<", "{lambda(", "$_", "::$_9", "(((", ")))", "(anonymous namespace)", "a<b", "operator", " ", "", "{lambda(}::", "x(1", "a.b."])
    func hostileNames(text: String) {
        for mangled in ["_Z1a", "$s1a", "_R1a", nil] {
            let symbol = Symbol(name: text, mangledName: mangled, isInlined: true)
            _ = FunctionName.normalised(symbol, in: symbol)
            _ = FunctionName.endsProgram(text)
        }
        _ = MessageWords.words(text)
        _ = MessageWords.words(ofProgram: "panic: " + text + ")")
        _ = MessageWords.pythonPlace(in: "Traceback (most recent call last):\n  File \"" + text)
    }

    @Test(arguments: ["die", "fatal_error", "Log::die_with_message", "assertionFailed", "xalloc_die", "panic"])
    func helpers(name: String) { #expect(FunctionName.endsProgram(name)) }

    @Test(arguments: ["load", "abort_far", "fail_17", "check", "crash_here", "error", "main"])
    func noHelpers(name: String) { #expect(!FunctionName.endsProgram(name)) }

    @Test(arguments: [
        ("no such user: bob", "no such user"), ("user 'bob' has no mail", "user # has no mail"), ("cannot open /etc/x for 12 ms", "cannot open # for # ms"),
        ("vector::_M_range_check: __n (which is 7)", "vector::_M_range_check:"), ("0x12 is no address", "# is no address"),
    ])
    func words(said: String, wanted: String) { #expect(MessageWords.words(said) == wanted) }

    @Test func pythonPlaces() {
        let text = """
            Traceback (most recent call last):
              File "/srv/app.py", line 12, in <module>
              File "/srv/app.py", line 4, in load
              File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
            ValueError: x
            """
        #expect(MessageWords.pythonPlace(in: text) == "app.py load")
    }

    // MARK: - Keys

    private func report(_ functions: [(String, String)], app: String = "a", kind: String = "fault.null_read") throws -> RunReport {
        var report = try Reader(path: Sample.goldenPath).run()
        report.identity?.appID = app
        report.identity?.executable = Self.own
        report.identity?.buildID = nil
        report.modules = nil
        report.verdict = Verdict(end: .crash, evidence: "")
        report.crash?.kind = kind
        report.crash?.messages = nil
        report.crash?.asyncChains = nil
        report.crash?.framePointerStack = nil
        report.crash?.dwarfStack = Stack(
            method: .dwarf,
            frames: functions.map { name, module in
                Frame(address: Address(0x1000), lookup: Address(0x1000), module: module, symbols: name.isEmpty ? nil : [Symbol(name: name)])
            })
        return report
    }

    private static let own = "/opt/player/player", libc = "/lib/x86_64-linux-gnu/libc.so.6"

    @Test func theInnermostFunctionOfTheProgramCounts() throws {
        let one = try #require(BugKey(try report([("__strlen_avx2", Self.libc), ("load", Self.own), ("main", Self.own)])))
        #expect(one.lines == ["app a", "end crash", "kind fault.null", "frame load"])
        #expect(try one == BugKey(report([("load", Self.own), ("start", Self.own)], kind: "fault.null_write")))
        #expect(try one != BugKey(report([("load", Self.own)], app: "b")))
        // A function of libc in the program's own file.
        #expect(try one == BugKey(report([("fclose", Self.own), ("load", Self.own)])))
    }

    @Test func aHelperCountsWithItsCaller() throws {
        let key = try BugKey(report([("abort", Self.libc), ("die", Self.own), ("load", Self.own), ("main", Self.own)], kind: "abort.explicit"))
        #expect(key?.lines.suffix(2) == ["frame die", "frame load"])
    }

    @Test func aFunctionThatNeverReturnsCountsWithItsCaller() throws {
        var ended = try report([("abort", Self.libc), ("close_shop", Self.own), ("load", Self.own), ("main", Self.own)], kind: "abort.explicit")
        #expect(BugKey(ended)?.lines.suffix(2) == ["kind abort", "frame close_shop"])
        #expect(ended.endingFrames.flatMap { $0.symbols ?? [] }.map(\.name) == ["close_shop", "load", "main"])
        ended.crash?.dwarfStack?.frames[1].symbols?[0].isNoReturn = true
        #expect(BugKey(ended)?.lines.suffix(2) == ["frame close_shop", "frame load"])
        // One that faults did not end the program by its own will.
        ended.crash?.kind = "fault.null_read"
        #expect(BugKey(ended)?.lines.suffix(2) == ["kind fault.null", "frame close_shop"])
        #expect(ended.endingFrames.isEmpty)
    }

    @Test func withoutNamesItIsTheCoarseKey() throws {
        let unnamed = try report([("", Self.own), ("main", Self.own)]), empty = try report([])
        #expect(unnamed.bugKey(coarse: "c") == "c")
        #expect(empty.bugKey(coarse: nil) == nil)
    }

    // MARK: - Places

    @Test func instructions() throws {
        // push %rbp; mov %rsp,%rbp; mov -8(%rbp),%rax; mov (%rax),%edx; mov %edx,4(%rax); call +0;
        // idivl (%rax); div %ecx; ret
        let code: [UInt8] = [
            0x55, 0x48, 0x89, 0xE5, 0x48, 0x8B, 0x45, 0xF8, 0x8B, 0x10, 0x89, 0x50, 0x04, 0xE8, 0, 0, 0, 0, 0xF7, 0x38, 0xF7, 0xF1, 0xC3,
        ]
        let found = try #require(X86Code.instructions(of: code, at: 0x1000))
        #expect(found.sorted { $0.key < $1.key }.map(\.value.kind) == [.other, .other, .other, .read, .write, .call(0x1012), .read, .divide, .other])
        // Cut anywhere, and of any bytes, it ends.
        for count in code.indices { _ = X86Code.instructions(of: Array(code.prefix(count)), at: 0) }
        var state: UInt64 = 1
        for _ in 0..<20_000 {
            let bytes = (0..<32).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
            _ = X86Code.instructions(of: bytes, at: .max - 8)
        }
    }
}
