public import LaunchGuardReports

/// Adds functions, files and lines to the frames of reports, from the program files of this
/// machine.
///
/// A file whose build id differs from that of the module that ran is refused, as its symbols would
/// be wrong.
public struct Symbolicator: Sendable {
    private let backend: LLVMSymbolizer?
    private let debugDirectories: [String]

    /// - Parameters:
    ///   - program: path of `llvm-symbolizer`; nil: search for it.
    ///   - debugDirectories: folders that are searched by build id (`.build-id/ab/cdef….debug`) and
    ///     by name, before the path that the report names.
    public init(program: String? = nil, debugDirectories: [String] = []) {
        backend = program.map(LLVMSymbolizer.init) ?? .find()
        self.debugDirectories = debugDirectories
    }

    /// Whether `llvm-symbolizer` is available. Without it, frames stay module and offset.
    public var isAvailable: Bool { backend != nil }

    /// The reason for a lack of all symbols.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String
    }

    /// Add the symbols of all frames of the reports, and the reasons that the compiler recorded for
    /// traps. A lack of symbols for a single module becomes a problem of its report.
    public func symbolicate(_ reports: inout [RunReport]) throws(Failure) {
        guard let backend else {
            throw Failure(
                description: "llvm-symbolizer was not found: install LLVM, or name the program with --symbolizer; "
                    + "frames are shown as module and offset")
        }
        var files: [RunModule: String] = [:]
        var queries: Set<LLVMSymbolizer.Query> = []
        for index in reports.indices {
            for module in reports[index].modulesOfFrames.sorted(by: { $0.start < $1.start }) where files[module] == nil {
                let (file, problem) = file(of: module, in: reports[index])
                files[module] = file
                if let problem { reports[index].addProblem(problem) }
            }
            queries.formUnion(reports[index].frames.compactMap { reports[index].query(for: $0, in: files) })
        }
        guard !queries.isEmpty else { return }
        let ordered = queries.sorted { ($0.file, $0.address) < ($1.file, $1.address) }
        guard let locations = backend.locations(of: ordered) else {
            throw Failure(description: "\(backend.program) does not work; frames are shown as module and offset")
        }
        for index in reports.indices { reports[index].apply(locations, files) }
    }

    /// Demangle the names of C++ types in the messages of the reports. This needs no program and no
    /// file.
    public static func demangleMessages(of reports: inout [RunReport]) {
        for report in reports.indices {
            reports[report].changeCrashes { crash in
                for (index, message) in (crash.messages ?? []).enumerated() where message.source == .cppType && !message.isCut {
                    crash.messages?[index].demangled = Demangler.typeName(message.text)
                }
            }
        }
    }

    /// Add the symbols of one report.
    public func symbolicate(_ report: inout RunReport) throws(Failure) {
        var reports = [report]
        try symbolicate(&reports)
        report = reports[0]
    }

    /// The file to look up for a module: a file with the right build id, or the reason why there is
    /// none.
    private func file(of module: RunModule, in report: RunReport) -> (file: String?, problem: Problem?) {
        func problem(_ code: String, _ message: String) -> Problem {
            Problem(part: "symbols of \(module.path)", code: code, message: message)
        }
        var wrong: String?
        for candidate in candidates(for: module, in: report) {
            guard let elf = ELFFile(path: candidate) else { continue }
            let found = elf.buildID()
            guard found == module.buildID else {
                wrong =
                    wrong ?? "\(candidate) has \(found.map { "the build id \($0)" } ?? "no build id"), but the module that ran has "
                    + "\(module.buildID ?? "none"); the symbols of the file would be wrong"
                continue
            }
            guard LLVMSymbolizer.canName(candidate) else {
                return (nil, problem("name", "llvm-symbolizer does not accept such a path"))
            }
            guard found != nil else {
                return (candidate, problem("no-build-id", "the file has no build id; its symbols are right only if this file ran"))
            }
            return (candidate, nil)
        }
        if let wrong { return (nil, problem("build-id", wrong)) }
        return (nil, problem("not-found", "the file is not on this machine; name its folder with --debug-dir"))
    }

    private func candidates(for module: RunModule, in report: RunReport) -> [String] {
        let named = debugDirectories.flatMap { folder in
            (module.buildID.map { ["\(folder)/.build-id/\($0.prefix(2))/\($0.dropFirst(2)).debug"] } ?? [])
                + ["\(folder)/\(module.name)"]
        }
        return named + report.places(of: module)
    }
}

extension RunReport {
    fileprivate var frames: [Frame] {
        let crashes = [crash].compactMap(\.self) + (otherCrashes ?? [])
        let threads = crashes.flatMap { $0.threads ?? [] } + (snapshots ?? []).flatMap { $0.threads ?? [] }
        let stacks = crashes.flatMap { [$0.dwarfStack, $0.framePointerStack] } + threads.map(\.stack)
        let guarded = (guards?.sites ?? []).flatMap { ($0.frames ?? []) + [$0.place].compactMap(\.self) }
        return stacks.flatMap { $0?.frames ?? [] } + crashes.flatMap { $0.possibleFrames ?? [] } + guarded
    }

    fileprivate mutating func changeCrashes(_ change: (inout Crash) -> Void) {
        if var crash {
            change(&crash)
            self.crash = crash
        }
        guard var others = otherCrashes else { return }
        for index in others.indices { change(&others[index]) }
        otherCrashes = others
    }

    /// The modules with frames. The kernel's own module has no file.
    fileprivate var modulesOfFrames: Set<RunModule> {
        Set(frames.compactMap { module(at: $0.lookup) }.filter { $0.path.contains("/") })
    }

    /// Where the file of a module may be. A module that was loaded by a relative path is where the
    /// memory map says; in a report without a map, only a build id can tell whether the file beside
    /// the executable is the one.
    fileprivate func places(of module: RunModule) -> [String] {
        if module.path.hasPrefix("/") { return [module.path] }
        let maps = ([crash].compactMap(\.self) + (otherCrashes ?? [])).compactMap(\.memoryMap)
        let mapped = maps.compactMap { $0.mapping(at: module.start)?.path }.first { $0.hasPrefix("/") }
        let folder = module.buildID == nil ? nil : identity?.executable?.split(separator: "/").dropLast().joined(separator: "/")
        return [mapped, folder.map { "/\($0)/\(module.path)" }].compactMap(\.self)
    }

    fileprivate func query(for frame: Frame, in files: [RunModule: String]) -> LLVMSymbolizer.Query? {
        guard let module = module(at: frame.lookup), let file = files[module] else { return nil }
        return .init(file: file, address: frame.lookup.value &- module.bias.value)
    }

    fileprivate mutating func addProblem(_ problem: Problem) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    fileprivate mutating func apply(_ locations: [LLVMSymbolizer.Query: [LLVMSymbolizer.Location]], _ files: [RunModule: String]) {
        let report = self
        /// Returns why a trap is at the first frame, where the compiler wrote that down.
        @discardableResult func symbolicate(_ frames: inout [Frame]) -> String? {
            var trap: String?
            for index in frames.indices {
                let frame = frames[index]
                guard let query = report.query(for: frame, in: files), let found = locations[query] else { continue }
                let (reason, symbols) = Symbol.symbols(of: found, at: query.address &+ (frame.address.value &- frame.lookup.value))
                frames[index].symbols = symbols.isEmpty ? nil : symbols
                if index == 0 { trap = reason }
            }
            return trap
        }
        func symbolicate(_ threads: inout [ThreadState]) {
            for index in threads.indices where threads[index].stack != nil { symbolicate(&threads[index].stack!.frames) }
        }
        var taken = snapshots ?? []
        for index in taken.indices where taken[index].threads != nil { symbolicate(&taken[index].threads!) }
        if !taken.isEmpty { snapshots = taken }
        for index in (guards?.sites ?? []).indices {
            if guards!.sites![index].frames != nil { symbolicate(&guards!.sites![index].frames!) }
            guard let place = guards!.sites![index].place else { continue }
            var frames = [place]
            symbolicate(&frames)
            guards!.sites![index].place = frames[0]
        }
        changeCrashes { crash in
            let byTables = crash.dwarfStack != nil ? symbolicate(&crash.dwarfStack!.frames) : nil
            let byPointers = crash.framePointerStack != nil ? symbolicate(&crash.framePointerStack!.frames) : nil
            if crash.possibleFrames != nil { symbolicate(&crash.possibleFrames!) }
            if crash.threads != nil { symbolicate(&crash.threads!) }
            crash.refine(trap: byTables ?? byPointers)
        }
    }
}

extension Symbol {
    /// The prefix of the artificial inlined function by which the Swift compiler records the reason
    /// for a trap.
    private static let trapPrefix = "Swift runtime failure: "

    /// The functions at an address of a file, and the reason for a trap there.
    fileprivate static func symbols(
        of locations: [LLVMSymbolizer.Location], at address: UInt64
    ) -> (trap: String?, symbols: [Symbol]) {
        var trap: String?
        var symbols: [Symbol] = []
        for (index, location) in locations.enumerated() {
            guard let mangled = location.name else { continue }
            if mangled.hasPrefix(trapPrefix) {
                trap = trap ?? String(mangled.dropFirst(trapPrefix.count))
                continue
            }
            let isInlined = index + 1 < locations.count
            let name = Demangler.name(mangled)
            let offset = isInlined ? nil : location.start.flatMap { $0 <= address ? address - $0 : nil }
            symbols.append(
                Symbol(
                    name: name, mangledName: name == mangled ? nil : mangled, offset: offset, file: location.file,
                    line: location.line, column: location.column, isInlined: isInlined))
        }
        return (trap, symbols)
    }
}
