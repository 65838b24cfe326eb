internal import LaunchGuardReports

/// The files of this machine that have the symbols of a module.
struct ModuleFiles: Sendable {
    /// Those with the right build id, the one with most symbols first.
    var names: [String] = []
    /// The one with lines of the source.
    var lines: String?
    /// What was not as it should be.
    var problems: [Problem] = []

    /// The file by which the module is known.
    var first: String? { names.first }
}

/// Finds the files of modules: programs and libraries, and the separate files with their symbols.
struct ModuleFinder: Sendable {
    var debugDirectories: [String]

    /// The files of a module that may be at those places. Each has the module's build id.
    func files(of module: RunModule, at places: [String]) -> ModuleFiles {
        var search = Search(module: module)
        for candidate in named(module) + places where !search.hasLines { search.consider(candidate) }
        return search.files
    }

    private func named(_ module: RunModule) -> [String] {
        debugDirectories.flatMap { folder in
            (module.buildID.map { ["\(folder)/.build-id/\($0.prefix(2))/\($0.dropFirst(2)).debug"] } ?? []) + ["\(folder)/\(module.name)"]
        }
    }
}

extension ModuleFinder {
    /// One search.
    struct Search {
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

        /// Takes a file that is there and has the build id.
        mutating func consider(_ path: String) {
            guard let file = ELFFile(path: path), !found.contains(where: { $0.path == path }) else { return }
            let id = file.buildID()
            let refusal = file.refusal()
            guard id == module.buildID, refusal == nil else {
                let ran = module.buildID.map { "the build id \($0)" } ?? "no build id"
                let has = refusal ?? "has " + (id.map { "the build id \($0)" } ?? "no build id")
                wrong = wrong ?? "\(path) \(has), but the module that ran has \(ran); the symbols of the file would be wrong"
                return
            }
            hasNoBuildID = hasNoBuildID || id == nil
            let sections = file.sections()
            found.append((path, sections.contains { $0.type == 2 && $0.size > 0 }))
            guard lines == nil, sections.haveLines else { return }
            if LLVMSymbolizer.canName(path) { lines = path } else { isUnnameable = true }
        }

        var files: ModuleFiles {
            var files = ModuleFiles(names: found.filter(\.hasSymbols).map(\.path) + found.filter { !$0.hasSymbols }.map(\.path), lines: lines)
            if found.isEmpty {
                files.add(wrong == nil ? "not-found" : "build-id", wrong ?? "the file is not on this machine; name its folder with --debug-dir", module)
            } else if hasNoBuildID {
                files.add("no-build-id", "the file has no build id; its symbols are right only if this file ran", module)
            }
            if isUnnameable, lines == nil { files.add("name", "no symbolizer accepts such a path, so that there are no lines", module) }
            return files
        }
    }
}

extension ModuleFiles {
    mutating func add(_ code: String, _ message: String, _ module: RunModule) {
        problems.append(.ofSymbols(of: module, code, message))
    }
}

extension Problem {
    static func ofSymbols(of module: RunModule, _ code: String, _ message: String) -> Problem {
        Problem(part: "symbols of \(module.path)", code: code, message: message)
    }
}
