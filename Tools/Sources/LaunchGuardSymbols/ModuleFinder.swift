internal import LaunchGuardReports

/// The files of this machine that have the symbols of a module.
struct ModuleFiles: Sendable {
    /// Those with the right build id, the one with most symbols first.
    var names: [String] = []
    /// The one with lines of the source.
    var lines: String?
    /// Problems of the search.
    var problems: [Problem] = []

    /// The file by which the module is known.
    var first: String? { names.first }
}

/// Finds the files of modules: programs and libraries, and the separate files with their symbols.
struct ModuleFinder: Sendable {
    var debugDirectories: [String]
    /// Where packages of a distribution put separate debug files.
    var systemDirectory = "/usr/lib/debug"
    var server: Debuginfod?

    /// The files of a module that may be at those places. Each has the module's build id. The
    /// search ends with the first file that has lines.
    func files(of module: RunModule, at places: [String]) -> ModuleFiles {
        var search = ModuleSearch(module: module)
        let folders = debugDirectories + [systemDirectory]
        let byName = debugDirectories.flatMap { ["\($0)/\(module.name)", "\($0)/\(module.name).debug"] }
        let places = debugDirectories.compactMap { byID(module, in: $0) } + byName + places + [byID(module, in: systemDirectory)].compactMap(\.self)
        for place in places where !search.hasLines { search.consider(place) }
        for path in search.paths where !search.hasLines {
            guard let link = ELFFile(path: path)?.debugLink() else { continue }
            let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            for place in ["\(folder)/\(link.name)", "\(folder)/.debug/\(link.name)"] + folders.map({ "\($0)\(folder)/\(link.name)" }) where !search.hasLines {
                search.consider(place, checksum: link.checksum)
            }
        }
        var files = search.files
        guard let server, !search.hasLines, let id = module.buildID else { return files }
        do throws(Debuginfod.Failure) {
            guard let path = try server.file(buildID: id) else { return files }
            search.consider(path)
            files = search.files
        } catch {
            files.add("debuginfod", error.description, module)
        }
        return files
    }

    /// As `ab/cdef….debug`.
    private func byID(_ module: RunModule, in folder: String) -> String? {
        guard let id = module.buildID, id.count > 2 else { return nil }
        return "\(folder)/.build-id/\(id.prefix(2))/\(id.dropFirst(2)).debug"
    }
}

/// One search for the files of a module.
struct ModuleSearch {
    let module: RunModule
    private var found: [(path: String, hasSymbols: Bool)] = []
    private var lines: String?
    private var wrong: String?
    private var hasNoBuildID = false
    private var isUnnameable = false

    init(module: RunModule) {
        self.module = module
    }

    var hasLines: Bool { lines != nil }
    var paths: [String] { found.map(\.path) }

    /// Takes a file that is there and has the build id, or no build id and that checksum.
    mutating func consider(_ path: String, checksum: UInt32? = nil) {
        guard !found.contains(where: { $0.path == path }), let file = ELFFile(path: path) else { return }
        if let refusal = refusal(of: file, checksum) {
            wrong = wrong ?? "\(path) \(refusal); the symbols of the file would be wrong"
            return
        }
        hasNoBuildID = hasNoBuildID || module.buildID == nil
        let sections = file.sections()
        found.append((path, sections.contains { $0.type == 2 && $0.size > 0 }))
        guard lines == nil, sections.haveLines else { return }
        if LLVMSymbolizer.canName(path) { lines = path } else { isUnnameable = true }
    }

    /// Why a file is not the module's, as the end of a sentence.
    private func refusal(of file: borrowing ELFFile, _ checksum: UInt32?) -> String? {
        let id = file.buildID()
        let ran = module.buildID.map { "the build id \($0)" } ?? "no build id"
        if let refusal = file.refusal() { return "\(refusal), and the module that ran has \(ran)" }
        if let checksum, id == nil {
            let own = file.checksum()
            return own == checksum ? nil : "has the checksum \(own.map { String($0, radix: 16) } ?? "of nothing"), but the program names \(String(checksum, radix: 16))"
        }
        guard id != module.buildID else { return nil }
        return "has \(id.map { "the build id \($0)" } ?? "no build id"), but the module that ran has \(ran)"
    }

    var files: ModuleFiles {
        var files = ModuleFiles(names: found.filter(\.hasSymbols).map(\.path) + found.filter { !$0.hasSymbols }.map(\.path), lines: lines)
        if let wrong, lines == nil { files.add("build-id", wrong, module) }
        if found.isEmpty, wrong == nil { files.add("not-found", "the file is not on this machine; name its folder with --debug-dir", module) }
        if hasNoBuildID { files.add("no-build-id", "the file has no build id; its symbols are right only if this file ran", module) }
        if isUnnameable, lines == nil { files.add("name", "no symbolizer accepts such a path, so that there are no lines", module) }
        return files
    }
}

extension ModuleFiles {
    fileprivate mutating func add(_ code: String, _ message: String, _ module: RunModule) {
        problems.append(.ofSymbols(of: module, code, message))
    }
}

extension Problem {
    static func ofSymbols(of module: RunModule, _ code: String, _ message: String) -> Problem {
        Problem(part: "symbols of \(module.path)", code: code, message: message)
    }
}
