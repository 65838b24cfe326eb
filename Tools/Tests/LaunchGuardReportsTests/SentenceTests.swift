import Foundation
import LaunchGuardReportModel
import Testing
import TestSupport

@testable import LaunchGuardSymbols

/// The sentence that a report begins with: of real deaths, and of the words of each runtime.
@Suite struct SentenceTests {
    private struct Entry: Decodable {
        struct Expected: Decodable {
            var sentence: String?
        }

        var name: String
        var expected: Expected
    }

    private static let faults = Tool.path + "-faults"

    private static let entries: [String: String] = {
        guard let listed = try? Tool.run(["--list", "--json"], program: faults), let entries = try? JSONDecoder().decode([Entry].self, from: Data(listed.output.utf8))
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: entries.compactMap { entry in entry.expected.sentence.map { (entry.name, $0) } })
    }()

    @Test func theCatalogueHasSentences() {
        #expect(Self.entries.count > 12)
    }

    /// Of each entry of the fault catalogue that has one: a program dies, and the tool says it.
    @Test(arguments: entries.keys.sorted()) func theSentenceOfADeath(name: String) throws {
        let folder = try TemporaryFolder()
        _ = try Tool.run(["--state", folder.path, name], program: Self.faults)
        let sentence = try #require(Self.entries[name])
        let inspect = try Tool.run(["inspect", "--last", "crash", folder.path])
        #expect(inspect.output.hasPrefix(sentence), "\(inspect.output.prefix(300))")
        #expect(inspect.output.prefix { $0 != "\n" }.hasSuffix(" of org.launchguard.faults"))
        // The list and the verdict say the same, without the program.
        let why = inspect.output.prefix { $0 != "\n" }.dropLast(" of org.launchguard.faults".count)
        #expect(try Tool.run(["list", folder.path]).output.contains("  crash  \(why)\n"))
        #expect(try Tool.run(["verdict", folder.path]).output.hasPrefix("crash: \(why); run 1"))
        // It is what a person sees first of the directory.
        #expect(try Tool.run(["inspect", folder.path]).output.hasPrefix(sentence))
        #expect(try Tool.run(["log", "--last", "crash", folder.path]).status != 2)
        #expect(try Tool.run(["inspect", "--last", "hang", folder.path]).status == 1)
    }

    @Test func listedRunsHaveAllThatARowNeeds() async throws {
        let state = try await RecordedState.make()
        let lines = try Tool.run(["list", "--json", state.folder.path]).output.split(separator: "\n")
        let rows = try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        let crashed = try #require(rows.first { ($0["verdict"] as? [String: Any])?["end"] as? String == "crash" })
        let path = try #require(crashed["path"] as? String)
        let run = try Reader(path: path).run()
        #expect(crashed["app"] as? String == run.identity?.appID && crashed["version"] as? String == run.identity?.appVersion)
        #expect(crashed["fingerprint"] as? String == run.fingerprint && run.fingerprint != nil)
        #expect((crashed["place"] as? String)?.contains("readMemory") == true)
        #expect((crashed["headline"] as? String)?.hasPrefix("access through a NULL pointer at address 0x8 in ") == true)
    }

    /// Where the program has not crashed, the state of its ladder comes first.
    @Test func aDirectoryWithoutABadEndBeginsWithTheProgram() throws {
        let folder = try TemporaryFolder()
        _ = try Tool.run(["--state", folder.path, "return-from-main"], program: Self.faults)
        #expect(try Tool.run(["inspect", folder.path]).output.hasPrefix("org.launchguard.faults "))
    }

    // MARK: - Words

    @Test(arguments: [
        (Message(source: .libc, text: "notes: store.c:12: open_store: Assertion `store != NULL' failed."), "assertion `store != NULL' failed (store.c:12)"),
        (Message(source: .libc, text: "*** buffer overflow detected ***: terminated\n"), "buffer overflow detected"),
        (Message(source: .libc, text: "free(): invalid pointer\n"), "free(): invalid pointer"),
        (Message(source: .swift, text: "Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range\n"), "Index out of range"),
        (Message(source: .swift, text: "notes/main.swift:5: Fatal error: no notes: 3\n"), "no notes: 3 (main.swift:5)"),
        (Message(source: .glib, text: "Store:ERROR:store.c:12:open_store: assertion failed: (store != NULL)"), "assertion failed: (store != NULL) (store.c:12)"),
        (Message(source: .guard, text: "launchguard: guard container: index 9 of 3"), "launchguard: guard container: index 9 of 3"),
    ])
    func whatRuntimesAddStaysOut(message: Message, words: String) throws {
        var report = try Sample.crash()
        report.crash?.messages = [message]
        report.crash?.dwarfStack = nil
        report.crash?.framePointerStack = nil
        #expect(report.headline == words + (words.hasSuffix(")") && words.contains(".") && words.contains(" (") ? " of" : " in") + " org.example.notes")
    }

    /// A debug build has the words of the standard library, a release build those of the compiler.
    @Test(arguments: [
        ("Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range", "Index out of range", "trap.swift.bounds"),
        ("Swift/Integers.swift:3269: Fatal error: Not enough bits to represent the passed value", "Not enough bits to represent the passed value", "trap.swift.overflow"),
        ("Swift/IntegerTypes.swift:1: Fatal error: Division by zero", "Division by zero", "trap.swift.div0"),
        ("Swift/Range.swift:1: Fatal error: Range requires lowerBound <= upperBound", "Range requires lowerBound <= upperBound", "trap.swift.range"),
    ])
    func debugAndReleaseBuildsHaveOneKind(said: String, trap: String, kind: String) throws {
        var debug = try #require(try Sample.crash().crash), release = debug
        debug.kind = "trap.swift"
        debug.messages = [Message(source: .swift, text: said)]
        release.kind = "trap.illegal"
        release.messages = nil
        release.refine(trap: trap)
        #expect(debug.finestKind == kind && release.finestKind == kind)
        // The program's own text is no evidence.
        debug.messages = [Message(source: .swift, text: "notes/main.swift:1: Fatal error: Index out of range")]
        #expect(debug.finestKind == "trap.swift")
    }

    @Test func aCauseFollowsItsException() throws {
        var report = try Sample.crash()
        report.crash?.messages = [
            Message(source: .cppType, text: "x", demangled: "std::_Nested_exception<std::logic_error>"), Message(source: .cppWhat, text: "cannot start"),
            Message(source: .cppType, text: "i", demangled: "int"), Message(source: .cppWhat, text: "42"),
        ]
        #expect(report.headline.hasPrefix("exception of type std::logic_error: cannot start, caused by an exception of type int: 42 in Notes.open()"))
    }

    @Test(arguments: [
        ("Server::answer(std::vector<int>&)::{lambda(int)#1}::operator()(int) const", "in Server::answer::{lambda(int)#1}"),
        ("notes::Store::open(std::string const&)", "in notes::Store::open"), ("(anonymous namespace)::parse(char const*)", "in (anonymous namespace)::parse"),
        ("main::$_0::operator()() const", "in main::$_0::operator()"), ("Notes::operator()(int)", "in Notes::operator()"),
    ])
    func aNameOfCplusplusHasNoParameters(name: String, place: String) throws {
        var report = try Sample.crash()
        report.crash?.dwarfStack = nil
        report.crash?.framePointerStack?.frames[0].symbols = [Symbol(name: name, mangledName: "_ZN1xE", file: "/src/store.cpp", line: 7)]
        let isInBrackets = !place.hasSuffix(")")
        #expect(report.headline.hasSuffix("\(place)\(isInBrackets ? " (store.cpp:7)" : " at store.cpp:7") of org.example.notes"), "\(report.headline)")
    }

    // MARK: - Linker names

    @Test(arguments: [
        ("_ZN3bad5parse17h0123456789abcdefE", "bad::parse"),
        ("_ZN4core6result19Result$LT$T$C$E$GT$6unwrap17hfd3bc3ba30aab0ffE", "core::result::Result<T,E>::unwrap"),
        ("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE", "<alloc::string::String as core::fmt::Display>::fmt"),
        ("_RNvNtNtCsjrHSEGnQ3l9_3std9panicking15panic_with_hook", nil), ("_RNvNtCsjrHSEGnQ3l9_3std9panicking15panic_with_hook", "std::panicking::panic_with_hook"),
        ("_RNCNvNtCsjrHSEGnQ3l9_3std9panicking13panic_handler0B5_", "std::panicking::panic_handler::{closure#0}"),
        ("_RNvYFEuINtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceuE9call_onceCs2w1aFdaTfHe_3bad", "<fn() as core::ops::function::FnOnce<()>>::call_once"),
        ("_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace28___rust_begin_short_backtraceFEuuECs2w1aFdaTfHe_3bad", "std::sys::backtrace::__rust_begin_short_backtrace::<fn(), ()>"),
        ("async_MainTY24_", "main"), ("async_Main", "main"), ("_R", nil), ("_RNvB_1x", nil), ("_ZN3bad5parseE", nil),
    ] as [(String, String?)])
    func linkerNamesAreReadable(mangled: String, name: String?) {
        let names = Demangler(program: nil).names(of: [mangled])
        if let name { #expect(names[mangled] == name) } else { #expect(RustName(mangled) == nil) }
    }

    /// Back references can make a short name endless.
    @Test func aHostileNameOfRustEnds() {
        let types = String(repeating: "T", count: 60) + String(repeating: "B1_B1_B1_B1_B1_B1_E", count: 60)
        for name in ["_RIC1aB_E", "_RIC1a" + types, "_RINvC1a1b" + String(repeating: "TB8_B8_B8_", count: 4000)] {
            #expect((RustName(name)?.text.utf8.count ?? 0) < 1 << 20)
        }
    }
}
