/// Separates the program's own code from that of libraries and runtimes, so that a report names the
/// place that a person would: the program's own function nearest to the fault.
struct OwnCode {
    /// Path of the program's own module.
    private let program: String?
    /// File names that a context calls its own modules.
    private let named: Set<String>

    init(_ report: RunReport) {
        program = report.programPath
        named = Set((report.contexts ?? []).flatMap { $0.modules ?? [] })
    }

    /// The function of the program nearest to the fault; without one, the innermost known function.
    func place(in stack: Stack?) -> String? {
        let frames = stack?.frames ?? []
        let own = frames.lazy.filter(isOwn).compactMap(Self.function).first
        return (own ?? frames.lazy.compactMap { $0.symbols?.first?.name }.first).map { "in \($0)" }
    }

    /// Whether a frame is in the program or in a module that came with it, as plugins do.
    func isOwn(_ frame: Frame) -> Bool {
        guard let path = frame.module else { return false }
        let name = path.lastPathPart
        if path == program || named.contains(name) { return true }
        if !path.contains("/") || Self.runtimes.contains(where: name.hasPrefix) { return false }
        if let folder = program?.dropLast(program?.lastPathPart.count ?? 0), folder.count > 1, path.hasPrefix(folder) { return true }
        return !Self.systemFolders.contains(where: path.hasPrefix)
    }

    private static let systemFolders = ["/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib", "/usr/local/lib"]

    /// Libraries that a program may bring along, and that are still none of its own code.
    private static let runtimes = [
        "libswift", "libdispatch.", "libBlocksRuntime.", "libFoundation", "lib_Foundation", "lib_Testing", "libTesting.", "libXCTest.", "libc.", "libc-",
        "libc++", "libstdc++.", "libgcc_s.", "libunwind", "libm.", "libpthread", "ld-", "libasan.", "libtsan.", "libubsan.", "libclang_rt.",
        "liblaunchguard.",
    ]

    /// The innermost function of a frame that is not one of a runtime, inlined or linked statically
    /// though it may be; a frame without symbols is its module and offset.
    private static func function(_ frame: Frame) -> String? {
        guard let symbols = frame.symbols, !symbols.isEmpty else {
            return frame.descriptions.first.map { String($0.dropFirst("in ".count)) }
        }
        return symbols.first { !isOfRuntime($0.mangledName ?? $0.name) }?.name
    }

    /// Whether a function is one of libc, of the C++ or Swift runtime and library, or LaunchGuard's
    /// own, by its linker name.
    static func isOfRuntime(_ name: String) -> Bool {
        if runtimeFunctions.contains(name) || runtimePrefixes.contains(where: name.hasPrefix) { return true }
        if name.hasPrefix("$sS") { return !isExtension(name.dropFirst("$sS".count + 1)) }
        // C leaves names with such a begin to the implementation; "_Z" begins every name of C++.
        guard name.hasPrefix("_"), !name.hasPrefix("_Z"), let second = name.dropFirst().first else { return false }
        return second == "_" || ("A"..."Z").contains(second)
    }

    private static let runtimeFunctions: Set<String> = ["abort", "gsignal", "raise", "pthread_kill", "tgkill", "malloc_printerr", "_int_free", "_int_malloc"]

    private static let runtimePrefixes = [
        "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZN10__cxxabiv1", "_ZN5swift", "$ss", "swift_", "_swift_", "dispatch_", "_dispatch_",
        "lg__", "$s11LaunchGuard",
    ]

    /// Whether a Swift name, after its type of the standard library, goes on with the module of an
    /// extension: length, name and "E".
    private static func isExtension(_ rest: Substring) -> Bool {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let length = Int(digits), length < rest.count else { return false }
        return rest.dropFirst(digits.count + length).first == "E"
    }
}
