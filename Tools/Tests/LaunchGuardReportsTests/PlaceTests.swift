import Testing

@testable import LaunchGuardReportModel

/// The place of a crash is the program's own function nearest to the fault.
@Suite struct PlaceTests {
    private static let program = "/opt/notes/notes"
    private static let libc = "/lib/x86_64-linux-gnu/libc.so.6"

    @Test(arguments: [
        // The program called into a library.
        ([frame(libc, "__strlen_avx2"), frame(libc, "puts"), frame(program, "print_note"), frame(program, "main")], "in print_note"),
        // A call through a null pointer.
        ([Frame(address: Address(0), lookup: Address(0)), frame(program, "main")], "in main"),
        // A plugin, and one that has no symbols.
        ([frame(libc, "memcpy"), frame("/opt/notes/plugins/audio.so", "decode"), frame(program, "main")], "in decode"),
        ([frame("./audio.so"), frame(program, "main")], "in audio.so + 0x10"),
        // A library of the system that a context calls its own.
        ([frame("/usr/lib/notes/libstore.so.2", "store"), frame(program, "main")], "in store"),
        // The machinery of libc, C++ and Swift, as libraries and linked statically.
        ([frame(libc, "__pthread_kill_implementation"), frame(libc, "raise"), frame(libc, "abort"), frame(program, "check")], "in check"),
        ([frame(program, "__pthread_kill"), frame(program, "raise"), frame(program, "abort"), frame(program, "check")], "in check"),
        (
            [
                frame(program, "abort"), frame(program, "__gnu_cxx::__verbose_terminate_handler()", "_ZN9__gnu_cxx27__verbose_terminate_handlerEv"),
                frame(program, "std::terminate()", "_ZSt9terminatev"), frame(program, "__cxa_throw"), frame(program, "Disk::read()", "_ZN4Disk4readEv"),
            ], "in Disk::read()"
        ),
        (
            [frame("/opt/notes/libswiftCore.so", "_assertionFailure(_:_:file:line:flags:)", "$ss17_assertionFailure"), frame(program, "load()", "$s5notes4loadyyF")],
            "in load()"
        ),
        (
            [frame(program, "specialized Array.subscript.getter", "$sSayxSicigSi_Tg5"), frame(program, "load()", "$s5notes4loadyyF")],
            "in load()"
        ),
        // An extension of the program is its own, whatever it extends.
        ([frame(program, "Array.middle.getter", "$sSa5notesE6middlexvg"), frame(program, "main")], "in Array.middle.getter"),
        // No frame of its own: the innermost function.
        ([frame(libc, "strlen"), frame(libc, "start_thread")], "in strlen"),
        ([frame(libc)], nil),
    ] as [([Frame], String?)])
    func itIsTheProgramsOwn(frames: [Frame], place: String?) throws {
        var report = try Sample.crash()
        report.contexts?[0].modules = ["libstore.so.2"]
        report.crash?.dwarfStack = Stack(method: .dwarf, frames: frames)
        #expect(report.place == place)
        // The line of the source stands for the parameters of C++.
        let short = place == "in Disk::read()" ? "in Disk::read" : place
        #expect(report.headline == "read through a NULL pointer " + (short.map { "\($0) of " } ?? "in ") + "org.example.notes")
    }

    /// By the name of the linker, by the written one where that is all, and by the file.
    @Test(arguments: [
        ("_ZNKSt6vectorIiSaIiEE14_M_range_checkEm", nil), ("std::vector<int, std::allocator<int> >::_M_range_check(unsigned long) const", nil),
        ("_ZN4core6option13unwrap_failed17h0123456789abcdefE", nil), ("core::option::Option<T>::unwrap", nil),
        ("_ZN81_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..index..Index$LT$I$GT$$GT$5index17h0123456789abcdefE", nil),
        ("_RNvNtCsjrHSEGnQ3l9_3std7process5abort", nil), ("_RNCNvNtCsjrHSEGnQ3l9_3std9panicking13panic_handler0B5_", nil),
        ("_RNvMNtCsjrHSEGnQ3l9_4core6optionINtB2_6OptionlE6unwrapCs6GmmlP4bgsG_1r", nil), ("_RNvCsfLfy6EI15iL_7___rustc10rust_panic", nil),
        ("$s10Foundation3URLV4pathSSvg", nil), ("$s17LaunchGuardGuards5GuardV4failyyF", nil), ("lg_guard_claim", nil), ("lg__event_end_program", nil),
        ("unwrap", "/rustc/59807616e1fa/library/core/src/option.rs"), ("_M_range_check", "/usr/include/c++/12/bits/stl_vector.h"),
        ("handle", "/src/Sources/CLaunchGuard/capture/handler.c"), ("memcpy", nil),
    ] as [(String, String?)])
    func codeThatProgramsHaveInCommonIsNone(name: String, file: String?) throws {
        #expect(try place(of: Symbol(name: name, file: file)) == "in main")
    }

    @Test(arguments: [
        "_ZN4core4Disk4readEv", "_ZN5store4loadE", "_RNvCs6GmmlP4bgsG_1r5store", "_RNvMs_Cs6GmmlP4bgsG_1rNtB4_4Disk4read", "_ZN1r4load17hceef323b94d350c5E",
        "$s16LaunchGuardTests4failyyF", "$s10Foundation3URLV5notesE4openyyF", "$sSa5notesE6middlexvg", "$s5notes4loadyyF", "lgx", "standard::load()",
    ])
    func codeOfTheProgramIsItsOwn(name: String) throws {
        #expect(try place(of: Symbol(name: name, file: "/src/notes/Sources/load.c")) == "in \(name)")
    }

    /// Where the innermost frame has this function, and the next one is main().
    private func place(of symbol: Symbol) throws -> String? {
        var report = try Sample.crash()
        var frames = [Self.frame(Self.program, "x"), Self.frame(Self.program, "main")]
        frames[0].symbols = [symbol]
        report.crash?.dwarfStack = Stack(method: .dwarf, frames: frames)
        return report.place
    }

    @Test func anInlinedFunctionOfALibraryIsNone() throws {
        var report = try Sample.crash()
        #expect(report.place == "in Notes.open()")
        report.crash?.message = "Index out of range"
        #expect(report.headline == "Index out of range in Notes.open() at Notes.swift:42 of org.example.notes")
    }

    @Test func aProgramAmongTheLibrariesHasPluginsThere() throws {
        var report = try Sample.crash()
        let program = "/usr/lib/notes/notes"
        report.modules?[0].path = program
        for (path, place) in [("/usr/lib/notes/audio.so", "in decode"), ("/usr/lib/other/audio.so", "in main")] {
            report.crash?.dwarfStack = Stack(method: .dwarf, frames: [Self.frame(path, "decode"), Self.frame(program, "main")])
            #expect(report.place == place)
        }
    }

    /// A crash that the program survived, and a dump that was asked for, are not what it ended by.
    @Test func onlyTheEndHasAPlace() throws {
        var report = try Sample.crash()
        report.crash?.isHandled = true
        #expect(report.place == nil)
        report.crash?.isHandled = false
        report.crash?.signal = RunSignal(3)
        #expect(report.place == nil)
    }

    @Test(arguments: [
        ([], "Index out of range"), ([Message(source: .swift, text: "Fatal error: no notes\nmore")], "Fatal error: no notes"),
        (
            [Message(source: .cppType, text: "St13runtime_error", demangled: "std::runtime_error"), Message(source: .cppWhat, text: "disk full")],
            "std::runtime_error: disk full"
        ), ([Message(source: .libc, text: "free(): invalid pointer\n")], "free(): invalid pointer"), ([Message(source: .libc, text: "\n")], nil),
    ] as [([Message], String?)])
    func aMessageIsOneLine(messages: [Message], words: String?) throws {
        var crash = try #require(try Sample.crash().crash)
        crash.message = "Index out of range"
        crash.messages = messages
        #expect(crash.said == words)
    }

    private static func frame(_ module: String, _ name: String? = nil, _ mangled: String? = nil) -> Frame {
        Frame(
            address: Address(0x10), lookup: Address(0x10), module: module, fileAddress: Address(0x10),
            symbols: name.map { [Symbol(name: $0, mangledName: mangled)] })
    }
}
