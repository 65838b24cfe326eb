/// Separates the program's own code from that of libraries and runtimes, so that a report names the
/// place that a person would: the program's own function nearest to the fault.
struct OwnCode {
    /// Path of the program's own module.
    private let program: String?
    /// File names that a context calls its own modules.
    private let named: Set<String>
    /// The process; nil: it is not known.
    let process: Int32?

    init(_ report: RunReport) {
        program = report.programPath
        process = report.identity?.processID
        named = Set((report.contexts ?? []).flatMap { $0.modules ?? [] })
    }

    /// The function of the program nearest to the fault; without one, the innermost known function.
    func place(in stack: Stack?) -> String? {
        let frames = stack?.frames ?? []
        let own = frames.lazy.compactMap(ownFunction).first
        return (own ?? frames.lazy.compactMap { $0.symbols?.first?.name }.first).map { "in \($0)" }
    }

    /// Whether the code of a frame is the program's own: that of its module or of one that came
    /// with it, as plugins do, and of no runtime that is linked into it.
    func isOwn(_ frame: Frame) -> Bool { ownFunction(frame) != nil }

    /// The innermost function of a frame that is the program's own, inlined or not; a frame without
    /// symbols is its module and offset.
    private func ownFunction(_ frame: Frame) -> String? {
        guard frame.isSignalHandlerCall != true, let path = frame.module, isOwnModule(path) else { return nil }
        guard let symbols = frame.symbols, !symbols.isEmpty else {
            return frame.descriptions.first.map { String($0.dropFirst("in ".count)) }
        }
        return symbols.first { !$0.isCommon }?.name
    }

    func isOwnModule(_ path: String) -> Bool {
        if path == program || named.contains(path.lastPathPart) { return true }
        if !path.contains("/") || Reader.isCommonCode(module: path) { return false }
        if let folder = program?.dropLast(program?.lastPathPart.count ?? 0), folder.count > 1, path.hasPrefix(folder) { return true }
        return !Self.systemFolders.contains(where: path.hasPrefix)
    }

    private static let systemFolders = ["/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib", "/usr/local/lib"]
}

extension Symbol {
    /// Whether the function is one of libc, of a runtime or of LaunchGuard.
    var isCommon: Bool { Reader.isCommonCode(function: mangledName ?? name, file: file) }
}
