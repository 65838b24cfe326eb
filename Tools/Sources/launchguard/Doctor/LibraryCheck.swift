#if os(Linux)
import LaunchGuardPlatform
import LaunchGuardReportModel
import LaunchGuardSymbols

/// Libraries, and kinds of programs, that install signal handlers of their own.
enum LibraryCheck {
    private static let linked = "link the program with the option keep_first, or start it with launchguard run, which sets it"

    /// By the beginning of the file name.
    private static let handlers: [(prefix: String, name: String, remedy: String)] = [
        ("libasan.", "AddressSanitizer", "let the sanitizer report its builds, and LaunchGuard those that you ship"),
        ("libclang_rt.", "a sanitizer", "let the sanitizer report its builds, and LaunchGuard those that you ship"),
        ("libtsan.", "ThreadSanitizer", "let the sanitizer report its builds, and LaunchGuard those that you ship"),
        ("libhwasan.", "HWAddressSanitizer", "let the sanitizer report its builds, and LaunchGuard those that you ship"),
        ("libubsan.", "UndefinedBehaviorSanitizer", "let the sanitizer report its builds, and LaunchGuard those that you ship"),
        ("libsigsegv.", "libsigsegv", linked), ("libgc.", "the Boehm collector", linked), ("libjvm.", "a Java VM", linked), ("libjli.", "a Java VM", linked),
        ("libcoreclr.", ".NET", linked), ("libmono", "Mono", linked), ("libnode.", "node and its JavaScript engine", linked), ("libv8.", "a JavaScript engine", linked),
        ("libmozjs", "a JavaScript engine", linked), ("libjavascriptcoregtk", "a JavaScript engine", linked), ("libgo.", "Go", linked),
        ("libbreakpad", "Breakpad", "let one of both take the signals: lg_options.capture = LG_CAPTURE_NONE, and lg_crash_note() in its callback"),
        ("libcrashpad", "Crashpad", "let one of both take the signals: lg_options.capture = LG_CAPTURE_NONE, and lg_crash_note() in its callback"),
        ("libsentry", "the Sentry SDK", "let one of both take the signals: lg_options.capture = LG_CAPTURE_NONE, and lg_crash_note() in its callback"),
        ("libglog.", "glog's failure handler", linked), ("libabsl_failure_signal_handler.", "Abseil's failure handler", linked),
        ("libSegFault.", "libSegFault", linked),
    ]

    private static let limit = 256

    static func findings(_ path: String, _ program: ELFProgram) -> [Finding] {
        var findings: [Finding] = []
        if !program.sections.isDisjoint(with: [".note.go.buildid", ".go.buildinfo"]) {
            findings.append(
                Finding(
                    .warning, "program.handlers", "\(path) is a Go program, whose runtime takes all signals",
                    "start it with launchguard run where it is linked dynamically; a static one has its wait status alone"))
        }
        for (library, user) in libraries(of: path, program) {
            guard let handler = handlers.first(where: { library.hasPrefix($0.prefix) }) else { continue }
            findings.append(
                Finding(.warning, "program.handlers", "\(user) loads \(library), and \(handler.name) installs signal handlers of its own", handler.remedy))
        }
        return findings
    }

    /// Names of all libraries that the loader would load, and the file that asks for each first.
    private static func libraries(of path: String, _ program: ELFProgram) -> [(name: String, user: String)] {
        var found: [(name: String, user: String)] = []
        var seen: Set<String> = []
        var waiting = [(path: path, program: program)][...]
        let usual = usualFolders
        while let (user, next) = waiting.popFirst(), found.count < limit {
            for name in next.libraries where seen.insert(name).inserted {
                found.append((name.lastPart, user))
                let own = next.libraryFolders.map { $0.replacing("${ORIGIN}", with: "$ORIGIN").replacing("$ORIGIN", with: user.folder) }
                let places = name.contains("/") ? [name] : (own + usual).map { "\($0)/\(name)" }
                guard let place = places.first(where: { FileFacts($0)?.isRegular == true }), let library = ELFFile(path: place)?.program() else { continue }
                waiting.append((place, library))
            }
        }
        return found
    }

    /// Folders of the environment and of the loader.
    private static var usualFolders: [String] {
        let configured = ["/etc/ld.so.conf.d/x86_64-linux-gnu.conf", "/etc/ld.so.conf.d/aarch64-linux-gnu.conf", "/etc/ld.so.conf.d/libc.conf"]
            .flatMap { SystemFile.text($0)?.split(separator: "\n").filter { $0.hasPrefix("/") }.map(String.init) ?? [] }
        let chosen = Output.variable("LD_LIBRARY_PATH")?.split(separator: ":").map(String.init) ?? []
        return chosen + configured + ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }
}

extension String {
    fileprivate var lastPart: String { split(separator: "/").last.map(String.init) ?? self }
    fileprivate var folder: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "." }
}
#endif
