public import LaunchGuardReportModel

/// Adds functions, files and lines to the frames of reports, from the program files of this
/// machine.
///
/// The functions come from the symbol tables of the files, which the symbolicator reads itself.
/// Lines and inlined functions come from a symbolizer. A file whose build id differs from that of
/// the module that ran is refused, as its symbols would be wrong.
public struct Symbolicator: Sendable {
    private let symbolizers: [LLVMSymbolizer]
    private let finder: ModuleFinder
    private let demangler: Demangler
    /// Answers for `FunctionAttributes`.
    let attributes: LLVMSymbolizer?
    let cache = SymbolCache()

    /// Source of lines and inlined functions.
    public enum Way: Hashable, Sendable {
        /// `llvm-symbolizer`, if one is in PATH, beside the Swift compiler or in `/usr/lib/llvm-*`.
        case llvm
        /// A program that answers as `llvm-symbolizer` does: its path, or a name to search for as
        /// for that one. The arguments come before the others.
        case program(String, [String] = [])
    }

    /// Several ways are tried in turn; those that are not there are left out. Without any, frames
    /// have the function and the offset in it.
    ///
    /// - Parameter debugDirectories: folders that are searched by build id
    ///   (`.build-id/ab/cdef….debug`) and by name, before the path that the report names,
    ///   `/usr/lib/debug`, and the servers of `DEBUGINFOD_URLS`.
    /// - Parameter demangler: a program, with its first arguments, that answers as
    ///   `Demangler.answer(to:)` does. Nil: this process does that, and a hostile name may take it
    ///   all its time and memory.
    /// - Parameter attributes: the same, that answers as `SwiftSymbolizer.answer(to:)`. Nil: bug
    ///   keys know helpers by their names alone.
    public init(_ ways: [Way] = [.llvm], debugDirectories: [String] = [], demangler: [String]? = nil, attributes: [String]? = nil) {
        self.demangler = Demangler(program: demangler)
        self.attributes = attributes.map { LLVMSymbolizer(program: $0[0], command: $0.dropFirst() + [FunctionAttributes.option]) }
        symbolizers = ways.compactMap { way in
            switch way {
            case .llvm: LLVMSymbolizer.find()
            case .program(let path, let command):
                path.contains("/") ? LLVMSymbolizer(program: path, command: command) : LLVMSymbolizer.find(path)
            }
        }
        finder = ModuleFinder(debugDirectories: debugDirectories, server: .find())
    }

    /// Whether one of the ways to find lines is there.
    public var hasLines: Bool { !symbolizers.isEmpty }

    /// Why no lines could be looked up.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String
    }

    /// Add the symbols of all frames of the reports, and the reasons that the compiler recorded for
    /// traps. A lack of symbols for a single module becomes a problem of its report. The same
    /// symbolicator searches nothing twice.
    ///
    /// - Throws: no symbolizer works. The frames have their functions by then, without lines.
    public func symbolicate(_ reports: inout [RunReport]) throws(Failure) {
        for index in reports.indices {
            reports[index].changeCrashes { crash in
                for message in (crash.messages ?? []).indices {
                    guard let address = crash.messages?[message].earlierAccessAddress else { continue }
                    crash.messages?[message].earlierAccess = Frame(address: address, lookup: Address(address.value &- 1))
                }
            }
        }
        var files: [RunModule: ModuleFiles] = [:]
        var queries: Set<Location.Query> = []
        for index in reports.indices {
            for module in reports[index].modulesOfFrames.sorted(by: { $0.start < $1.start }) {
                let found = cache.files(of: module, at: reports[index].places(of: module), finder.files)
                files[module] = found
                found.problems.forEach { reports[index].addProblem($0) }
            }
            queries.formUnion(reports[index].frames.compactMap { reports[index].query(for: $0, in: files) })
        }
        guard !queries.isEmpty else { return }
        let filesByName = Dictionary(files.values.compactMap { files in files.first.map { ($0, files) } }) { first, _ in first }
        let found = cache.found(of: queries) { look(up: $0, in: filesByName, &$1) }
        let names = demangler.names(of: Set(queries.flatMap { found.locations[$0] ?? [] }.compactMap(\.name)))
        for index in reports.indices {
            let functions = reports[index].framesWithChains.compactMap { reports[index].query(for: $0, in: files) }
            let asynchronous = demangler.asynchronous(among: Set(functions.compactMap { found.locations[$0]?.last?.name }))
            reports[index].apply(found.locations, names, asynchronous, files, isTailCall: cache.isSure)
            for module in reports[index].modulesOfFrames.sorted(by: { $0.start < $1.start }) {
                guard let file = files[module]?.first, let problem = found.problems[file] else { continue }
                reports[index].addProblem(.ofSymbols(of: module, "no-symbols", "\(file): \(problem)"))
            }
            if let problem = reports[index].lackOfLines(symbolizers.isEmpty) { reports[index].addProblem(problem) }
        }
        addAttributes(to: &reports, files)
        addPlaces(to: &reports, files)
        if let failure = found.failure { throw failure }
    }

    /// Numbers the places that bug keys have.
    private func addPlaces(to reports: inout [RunReport], _ files: [RunModule: ModuleFiles]) {
        guard hasLines else { return }
        var asked: [(report: Int, frame: Frame, function: String, query: Location.Query, place: PlaceInFunction)] = []
        var known: [Location.Query: PlaceInFunction?] = [:]
        for index in reports.indices {
            guard let (frame, function) = reports[index].placedFrame, let module = reports[index].module(at: frame.lookup),
                let query = reports[index].query(for: frame, in: files), let own = files[module]
            else { continue }
            let place = known[query] ?? PlaceInFunction(at: query.address, isCall: frame.address != frame.lookup, in: own)
            known[query] = .some(place)
            if let place { asked.append((index, frame, function.mangledName ?? function.name, query, place)) }
        }
        guard !asked.isEmpty else { return }
        let queries = Set(asked.flatMap { asked in asked.place.addresses.map { Location.Query(file: asked.query.file, address: $0) } })
        let filesByName = Dictionary(files.values.compactMap { files in files.first.map { ($0, files) } }) { first, _ in first }
        let found = cache.found(of: queries) { look(up: $0, in: filesByName, &$1) }
        for (index, frame, function, query, place) in asked {
            let number = place.number(of: query.address, in: function) { found.locations[.init(file: query.file, address: $0)] ?? [] }
            reports[index].number(the: frame.address, number)
        }
    }

    /// Add the symbols of one report.
    public func symbolicate(_ report: inout RunReport) throws(Failure) {
        var reports = [report]
        defer { report = reports[0] }
        try symbolicate(&reports)
    }

    /// Lines where a file has them, and functions in any case.
    private func look(up queries: Set<Location.Query>, in files: [String: ModuleFiles], _ found: inout SymbolCache.Found) {
        var lines: [Location.Query: Location.Query] = [:]
        for query in queries {
            guard let file = files[query.file]?.lines else { continue }
            lines[query] = Location.Query(file: file, address: query.address)
        }
        if !lines.isEmpty, !symbolizers.isEmpty, found.failure == nil {
            let (answers, withoutLines) = locations(of: Set(lines.values).sorted { ($0.file, $0.address) < ($1.file, $1.address) })
            if let answers {
                for (query, line) in lines { found.locations[query] = answers[line] }
                for name in Set(lines.keys.map(\.file)) {
                    guard let file = files[name]?.lines, withoutLines.contains(file), ELFFile(path: file)?.hasZstandardLines == true else { continue }
                    found.problems[name] = "the lines are compressed with zstd, which \(symbolizers.map(\.program).joined(separator: " and ")) cannot read; try --symbolizer swift"
                }
            } else {
                let names = symbolizers.map(\.program).joined(separator: " and ")
                found.failure = Failure(description: "\(names) does not work; functions are shown without lines")
            }
        }
        for (name, queries) in Dictionary(grouping: queries, by: \.file) {
            addFunctions(of: files[name]?.names ?? [], to: queries, &found)
        }
    }

    /// The answers of the first symbolizer, and for files of which it knows no line at all those of
    /// the next one: an old program cannot read each kind of compression. The files of which nobody
    /// knows a line. Nil: no symbolizer works.
    private func locations(of queries: [Location.Query]) -> (answers: [Location.Query: [Location]]?, withoutLines: Set<String>) {
        var answers: [Location.Query: [Location]]?
        var rest = queries
        for symbolizer in symbolizers where !rest.isEmpty {
            guard let found = symbolizer.locations(of: rest) else { continue }
            func hasLine(_ locations: [Location]) -> Bool { locations.contains { $0.line != nil } }
            answers = (answers ?? [:]).merging(found) { hasLine($1) ? $1 : $0 }
            let known = Set(found.filter { hasLine($0.value) }.keys.map(\.file))
            rest.removeAll { known.contains($0.file) }
        }
        return (answers, Set(rest.map(\.file)))
    }

    /// The functions by the symbol tables of the files of a module, so that each way to find lines
    /// gives the same ones.
    private func addFunctions(of files: [String], to queries: [Location.Query], _ found: inout SymbolCache.Found) {
        var missing = queries
        var problem: String?
        var isWhole = false
        for path in files where !missing.isEmpty {
            guard let file = ELFFile(path: path) else { continue }
            let tables = SymbolTables(of: file, at: missing.map(\.address))
            isWhole = isWhole || tables.isWhole
            problem = problem ?? tables.problem
            for query in missing {
                guard let function = tables.functions[query.address] else { continue }
                let inner = found.locations[query]?.dropLast() ?? []
                var location = found.locations[query]?.last ?? Location()
                (location.name, location.start) = (function.name, function.start)
                found.locations[query] = inner + [location]
            }
            missing.removeAll { tables.functions[$0.address] != nil }
        }
        // Without a line, the name is that of the nearest function, whose end nobody looked at.
        for query in missing where found.locations[query]?.last?.line == nil { found.locations[query] = [] }
        guard let first = files.first, missing.contains(where: { found.locations[$0]?.isEmpty != false }) else { return }
        found.problems[first] = problem ?? (isWhole ? nil : "the file is stripped; name the folder of its separate debug file with --debug-dir, or install its debug symbols")
    }

    /// Demangle the names of C++ types in the messages of the reports. This needs no file.
    public func demangleMessages(of reports: inout [RunReport]) {
        func isType(_ message: Message) -> Bool { message.source == .cppType && !message.isCut }
        let types = demangler.typeNames(of: Set(reports.flatMap(\.crashes).flatMap { $0.messages ?? [] }.filter(isType).map(\.text)))
        for report in reports.indices {
            reports[report].changeCrashes { crash in
                for (index, message) in (crash.messages ?? []).enumerated() where isType(message) {
                    crash.messages?[index].demangled = types[message.text]
                }
            }
        }
    }
}
