internal import LaunchGuardPlatform
internal import Runtime
internal import Synchronization

/// Turns linker names of Swift and C++ into names of the source.
///
/// A name of 200 letters may stand for one of a terabyte, and the demanglers have no limit. So the
/// names in files are for a process of its own, which has one.
package final class Demangler: Sendable {
    /// Answers as `answer(to:)` does; nil: this process does it, for names that it trusts.
    private let program: [String]?
    private let state = Mutex(State())

    private struct State {
        var known: [String: String] = [:]
        /// Names that were too much.
        var failures = 0
    }

    /// After so many of them no other name is asked for.
    private static let mostFailures = 16

    init(program: [String]?) {
        self.program = program
    }

    /// The short forms, for example "Database.open(_:)". A name that is not mangled, or is too
    /// much, is its own. Parts and copies of a function have its name.
    func names(of names: Set<String>) -> [String: String] {
        state.withLock { state in
            let functions = Dictionary(uniqueKeysWithValues: names.map { ($0, PartName.function($0)) })
            var rest = Set(functions.values).filter { state.known[$0] == nil && Self.isMangled($0) }.sorted()[...]
            while !rest.isEmpty, state.failures < Self.mostFailures {
                var size = 0
                let batch = rest.prefix(1024).prefix { name in
                    defer { size += name.utf8.count }
                    return size < 1 << 18
                }
                let answers = answers(to: Array(batch))
                for (name, answer) in zip(batch, answers) { state.known[name] = answer }
                rest.removeFirst(answers.count)
                guard answers.count < batch.count else { continue }
                state.known[rest.removeFirst()] = batch[batch.startIndex + answers.count]
                state.failures += 1
            }
            return functions.mapValues { state.known[$0] ?? $0 }
        }
    }

    /// Answers for the first names, up to one that is too much.
    private func answers(to names: [String]) -> [String] {
        guard let program else { return names.map(Self.name) }
        let (output, _) = Subprocess.run(program[0], program.dropFirst() + names, limit: 64 << 20, seconds: 60)
        return output.split(separator: 0, omittingEmptySubsequences: false).dropLast().prefix(names.count).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let asyncMain = "async_Main"
    private static let asyncQuestion = "async? "
    private static let asyncAnswer = "async"

    private static func isMangled(_ name: String) -> Bool {
        ["_Z", "_R", "$", "_$", "_T", "@__swiftmacro_", asyncMain, asyncQuestion].contains(where: name.hasPrefix)
    }

    // MARK: - In that process

    /// Hands over each name, with a NUL after it, as it is found. The kernel ends the process at a
    /// name that is too much.
    package static func answer(to names: [String], _ write: ([UInt8]) -> Void) {
        #if os(Linux)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        var seconds = rlimit(rlim_cur: 1, rlim_max: 1)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &seconds)
        #endif
        for name in names { write(Array(Self.name(name).utf8) + [0]) }
    }

    /// The short form. A longer one than anybody reads is left out.
    static func name(_ mangled: String) -> String {
        if mangled.hasPrefix(asyncQuestion) {
            return AsyncName(String(mangled.dropFirst(asyncQuestion.count))).isAsync ? asyncAnswer : "not \(asyncAnswer)"
        }
        // The function of an asynchronous program's main, or a part of it after an `await`.
        if AsyncName.isMain(mangled) { return "main" }
        if let name = RustName(mangled)?.text { return name }
        let name = SymbolicatedBacktrace.Symbol(imageIndex: 0, imageName: "", rawName: mangled, offset: 0, sourceLocation: nil).name
        guard name.utf8.count <= max(16384, mangled.utf8.count) else { return mangled }
        // The short form has no name for the code at the top level of a file.
        return name.hasSuffix(" in ") ? name + "main" : name
    }

    /// The linker names of asynchronous Swift functions, and of their parts, among others.
    func asynchronous(among mangled: Set<String>) -> Set<String> {
        let asked = names(of: Set(mangled.map { Self.asyncQuestion + $0 }))
        return mangled.filter { asked[Self.asyncQuestion + $0] == Self.asyncAnswer }
    }

    /// C++ types, for example "std::runtime_error" for "St13runtime_error"; without those names
    /// that are not of a type.
    func typeNames(of mangled: Set<String>) -> [String: String] {
        // The demangler knows only symbols. The symbol of the type's name contains the type.
        let (symbol, prefix) = ("_ZTS", "typeinfo name for ")
        var types: [String: String] = [:]
        for (name, found) in names(of: Set(mangled.map { symbol + $0 })) where found.hasPrefix(prefix) {
            types[String(name.dropFirst(symbol.count))] = String(found.dropFirst(prefix.count))
        }
        return types
    }
}
