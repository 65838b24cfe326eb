import Testing

@testable import LaunchGuardReports

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
