internal import LaunchGuardReportModel
internal import Synchronization

/// The files of this machine that have the symbols of a module.
struct ModuleFiles: Sendable {
    /// Those with the right build id, the one with most symbols first.
    var names: [String] = []
    /// The one with lines of the source.
    var lines: String?
    /// The one that ran, with its code, where it is at its place.
    var program: String?
    /// Problems of the search.
    var problems: [Problem] = []

    /// The file by which the module is known.
    var first: String? { names.first }
}

/// The files below the folders of `--debug-dir`, by name. They are listed when a name is first
/// asked for: a folder may be that of a whole system.
final class DebugFolders: Sendable {
    private let folders: [String]
    private let files = Mutex<[String: [String]]?>(nil)
    private static let mostLevels = 16
    private static let mostFiles = 200_000

    init(_ folders: [String]) {
        self.folders = folders
    }

    /// In the order of their paths.
    func files(named names: [String]) -> [String] {
        files.withLock { files in
            let known = files ?? Self.list(folders)
            files = known
            return names.flatMap { known[$0] ?? [] }
        }
    }

    private static func list(_ folders: [String]) -> [String: [String]] {
        var files: [String: [String]] = [:]
        var count = 0
        func list(_ folder: String, _ levels: Int) {
            guard levels > 0, count < mostFiles, let names = try? ReportPath.names(in: folder) else { return }
            for name in names.sorted() where name != "." && name != ".." {
                let path = "\(folder)/\(name)"
                // Links are not followed: they may lead back.
                if ReportPath.isPlainFolder(path) {
                    list(path, levels - 1)
                } else {
                    count += 1
                    files[name, default: []].append(path)
                }
            }
        }
        for folder in folders { list(folder, mostLevels) }
        return files
    }
}

/// Finds the files of modules: programs and libraries, and the separate files with their symbols.
struct ModuleFinder: Sendable {
    var debugDirectories: [String]
    private let below: DebugFolders
    /// Where packages of a distribution put separate debug files.
    var systemDirectory = "/usr/lib/debug"
    var server: Debuginfod?

    init(debugDirectories: [String], server: Debuginfod? = nil) {
        self.debugDirectories = debugDirectories
        self.server = server
        below = DebugFolders(debugDirectories)
    }

    /// The files of a module that may be at those places. Each has the module's build id.
    func files(of module: RunModule, at places: [String]) -> ModuleFiles {
        var files = symbols(of: module, at: places)
        files.program = program(of: module, at: places)
        return files
    }

    /// The search ends with the first file that has lines.
    private func symbols(of module: RunModule, at places: [String]) -> ModuleFiles {
        var search = ModuleSearch(module: module)
        let folders = debugDirectories + [systemDirectory]
        let byName = debugDirectories.flatMap { ["\($0)/\(module.name)", "\($0)/\(module.name).debug"] }
        let places = debugDirectories.compactMap { byID(module, in: $0) } + byName + places + [byID(module, in: systemDirectory)].compactMap(\.self)
        for place in places where !search.hasLines { search.consider(place) }
        if !search.hasLines, !debugDirectories.isEmpty {
            let id = module.buildID.map { ["\($0.dropFirst(2)).debug", "\($0).debug"] } ?? []
            for place in below.files(named: id + [module.name, "\(module.name).debug"]) where !search.hasLines { search.consider(place, isSureName: false) }
        }
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

    private func program(of module: RunModule, at places: [String]) -> String? {
        var search = ModuleSearch(module: module)
        for place in places where search.paths.isEmpty { search.consider(place) }
        return search.paths.first
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
    private var missing: String?
    /// Files of split debug information that are not there.
    private var absent: [String] = []

    init(module: RunModule) {
        self.module = module
    }

    var hasLines: Bool { lines != nil }
    var paths: [String] { found.map(\.path) }

    /// Takes a file that is there and has the build id, or no build id and that checksum.
    ///
    /// - Parameter isSureName: whether another file of the name is a mistake worth a word.
    mutating func consider(_ path: String, checksum: UInt32? = nil, isSureName: Bool = true) {
        guard !found.contains(where: { $0.path == path }), let file = ELFFile(path: path) else { return }
        if let refusal = refusal(of: file, checksum) {
            if !isSureName, module.buildID != nil { return }
            wrong = wrong ?? "\(path) \(refusal); the symbols of the file would be wrong"
            return
        }
        hasNoBuildID = hasNoBuildID || module.buildID == nil
        let sections = file.sections()
        found.append((path, sections.contains { $0.type == 2 && $0.size > 0 }))
        guard lines == nil, sections.haveLines else { return }
        if LLVMSymbolizer.canName(path) { lines = path } else { isUnnameable = true }
        // A package of all of them has the program's name.
        absent = ELFFile(path: path + ".dwp") == nil ? file.splitFiles().filter { ELFFile(path: $0) == nil } : []
        guard let other = file.alternateFile() else { return }
        let place = other.hasPrefix("/") ? other : path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/" + other
        missing = ELFFile(path: place) == nil ? "\(path) keeps a part of its debug information in \(place), which is not on this machine; install it" : nil
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
        if let first = absent.first, let lines {
            let others = absent.count > 1 ? " and \(absent.count - 1) more" : ""
            files.add("split-debug", "\(first)\(others) of \(lines) is missing; without it, inlined functions are not known", module)
        }
        if let missing { files.add("alternate-file", missing, module) }
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
