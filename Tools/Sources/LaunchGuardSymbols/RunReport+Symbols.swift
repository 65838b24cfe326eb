internal import LaunchGuardReportModel

extension RunReport {
    var crashes: [Crash] { [crash].compactMap(\.self) + (otherCrashes ?? []) }

    private var threads: [ThreadState] { crashes.flatMap { $0.threads ?? [] } + (snapshots ?? []).flatMap { $0.threads ?? [] } }

    private var chains: [AsyncChain] { crashes.flatMap { $0.asyncChains ?? [] } + threads.flatMap { $0.asyncChains ?? [] } }

    var frames: [Frame] {
        let stacks = crashes.flatMap { [$0.dwarfStack, $0.storedStack, $0.framePointerStack] } + threads.flatMap { [$0.stack, $0.storedStack] }
        let guarded = (guards?.sites ?? []).flatMap { ($0.frames ?? []) + [$0.place].compactMap(\.self) }
        return stacks.flatMap { $0?.frames ?? [] } + crashes.flatMap { $0.possibleFrames ?? [] } + guarded
            + chains.flatMap { [$0.frame] + $0.callers }
            + crashes.flatMap { $0.messages ?? [] }.compactMap(\.earlierAccess)
    }

    /// Those whose functions have asynchronous callers if they are asynchronous.
    var framesWithChains: [Frame] { chains.map(\.frame) }

    mutating func changeCrashes(_ change: (inout Crash) -> Void) {
        if var crash {
            change(&crash)
            self.crash = crash
        }
        guard var others = otherCrashes else { return }
        for index in others.indices { change(&others[index]) }
        otherCrashes = others
    }

    /// The modules with frames. The kernel's own module has no file.
    var modulesOfFrames: Set<RunModule> {
        Set(frames.compactMap { module(at: $0.lookup) }.filter { $0.path.contains("/") })
    }

    /// Where the file of a module may be. A module that was loaded by a relative path is where the
    /// memory map says. In a report without a map, only a build id shows whether the file beside
    /// the executable is that module.
    func places(of module: RunModule) -> [String] {
        if module.path.hasPrefix("/") { return [module.path] }
        let maps = crashes.compactMap(\.memoryMap)
        let mapped = maps.compactMap { $0.mapping(at: module.start)?.path }.first { $0.hasPrefix("/") }
        let folder = module.buildID == nil ? nil : identity?.executable?.split(separator: "/").dropLast().joined(separator: "/")
        return [mapped, folder.map { "/\($0)/\(module.path)" }].compactMap(\.self)
    }

    func query(for frame: Frame, in files: [RunModule: ModuleFiles]) -> Location.Query? {
        guard let module = module(at: frame.lookup), let file = files[module]?.first else { return nil }
        return .init(file: file, address: frame.lookup.value &- module.bias.value)
    }

    /// Where functions were found and no line of the source: how to get lines.
    func lackOfLines(_ hasNoSymbolizer: Bool) -> Problem? {
        let symbols = frames.flatMap { $0.symbols ?? [] }
        guard !symbols.isEmpty, symbols.allSatisfy({ $0.line == nil }) else { return nil }
        let message =
            hasNoSymbolizer
            ? "no symbolizer looked for lines: install llvm-symbolizer (package llvm), or name one with --symbolizer"
            : "no file has them: name the folder of the separate debug files with --debug-dir, install the debug symbols, or set DEBUGINFOD_URLS"
        return Problem(part: "lines of the source", code: "no-lines", message: message)
    }

    /// Gives the frames at an address of the crash, or of the hang, the number of their place.
    mutating func number(the address: Address, _ number: Int?) {
        func mark(_ stack: inout Stack?) {
            guard let frames = stack?.frames else { return }
            for index in frames.indices where frames[index].address == address { stack?.frames[index].placeNumber = number }
        }
        if crash != nil {
            mark(&crash!.dwarfStack)
            mark(&crash!.framePointerStack)
        }
        for snapshot in (snapshots ?? []).indices where snapshots![snapshot].threads?.isEmpty == false { mark(&snapshots![snapshot].threads![0].stack) }
    }

    /// Marks the functions at an address of the crash, innermost first, that never return.
    mutating func mark(_ address: Address, _ areNoReturn: [Bool]) {
        func mark(_ stack: inout Stack?) {
            guard let frames = stack?.frames else { return }
            for index in frames.indices where frames[index].address == address && frames[index].symbols?.count == areNoReturn.count {
                for (function, isNoReturn) in areNoReturn.enumerated() { stack?.frames[index].symbols?[function].isNoReturn = isNoReturn }
            }
        }
        guard crash != nil else { return }
        mark(&crash!.dwarfStack)
        mark(&crash!.framePointerStack)
    }

    mutating func addProblem(_ problem: Problem) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    mutating func apply(
        _ locations: [Location.Query: [Location]], _ names: [String: String], _ asynchronous: Set<String>, _ files: [RunModule: ModuleFiles],
        isTailCall: (TailCall) -> Bool
    ) {
        let report = self
        /// Returns why a trap is at the first frame, where the compiler wrote that down.
        @discardableResult func symbolicate(_ frames: inout [Frame]) -> Trap? {
            var trap: Trap?
            for index in frames.indices {
                let frame = frames[index]
                guard let query = report.query(for: frame, in: files), let found = locations[query] else { continue }
                let (reason, symbols) = Symbol.symbols(of: found, names, at: query.address &+ (frame.address.value &- frame.lookup.value))
                frames[index].symbols = symbols.isEmpty ? nil : symbols
                if index == 0 { trap = reason }
            }
            return trap
        }
        @discardableResult func symbolicate(_ stack: inout Stack?) -> Trap? {
            guard var walked = stack else { return nil }
            defer { stack = walked }
            let trap = symbolicate(&walked.frames)
            // Frames that were guessed may leave out any call.
            guard walked.method == .dwarf, walked.assumedFrames == nil else { return trap }
            for index in walked.frames.indices.dropLast() where walked.omitted == 0 || index + 1 != walked.innermost {
                let (frame, caller) = (walked.frames[index], walked.frames[index + 1])
                guard frame.isSignalHandlerCall != true, caller.address != caller.lookup, let module = report.module(at: frame.lookup), module.contains(caller.lookup),
                    let own = files[module], let start = report.query(for: frame, in: files).flatMap({ locations[$0]?.last?.start })
                else { continue }
                let call = TailCall(function: start, returnAddress: caller.address.value &- module.bias.value, code: own.program, symbols: own.names)
                if isTailCall(call) { walked.frames[index].isTailCalled = true }
            }
            return trap
        }
        func symbolicateChains(of callee: inout some AsyncCallee) {
            guard var chains = callee.asyncChains else { return }
            for index in chains.indices {
                var frames = [chains[index].frame]
                symbolicate(&frames)
                symbolicate(&chains[index].callers)
                chains[index].frame = frames[0]
                // Inlined functions have no frame, and so no context.
                let function = frames[0].symbols?.last
                chains[index].isAsync = function.map { asynchronous.contains($0.mangledName ?? $0.name) }
            }
            callee.asyncChains = chains
        }
        func symbolicate(_ threads: inout [ThreadState]) {
            for index in threads.indices {
                symbolicate(&threads[index].stack)
                symbolicate(&threads[index].storedStack)
                symbolicateChains(of: &threads[index])
            }
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
            let byTables = symbolicate(&crash.dwarfStack)
            let byPointers = symbolicate(&crash.framePointerStack)
            symbolicate(&crash.storedStack)
            if crash.possibleFrames != nil { symbolicate(&crash.possibleFrames!) }
            symbolicateChains(of: &crash)
            for index in (crash.messages ?? []).indices where crash.messages![index].earlierAccess != nil {
                var frames = [crash.messages![index].earlierAccess!]
                symbolicate(&frames)
                crash.messages![index].earlierAccess = frames[0]
            }
            if crash.threads != nil { symbolicate(&crash.threads!) }
            let trap = byTables ?? byPointers
            crash.refine(trap: trap?.words, isOfSwift: trap?.isOfSwift ?? true)
        }
    }
}

/// Why a compiler's trap is at an address, as its debug information says.
private struct Trap {
    var words: String
    /// Else of clang.
    var isOfSwift: Bool
}

extension Symbol {
    /// The prefix of the artificial inlined function by which the Swift compiler records the reason
    /// for a trap.
    private static let trapPrefix = "Swift runtime failure: "
    /// The same of clang, with a category: of `__builtin_verbose_trap`, and of checks for undefined
    /// behaviour that trap.
    private static let clangPrefix = "__clang_trap_msg$"

    /// Nil: the function is none of these.
    private static func trap(_ mangled: String) -> Trap? {
        if mangled.hasPrefix(trapPrefix) { return Trap(words: String(mangled.dropFirst(trapPrefix.count)), isOfSwift: true) }
        guard mangled.hasPrefix(clangPrefix) else { return nil }
        let parts = mangled.dropFirst(clangPrefix.count).split(separator: "$", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts.count == 2 && !parts[1].isEmpty ? parts[1] : parts[0]
        return Trap(words: words + (words == parts[0] || parts[0].isEmpty ? "" : " (\(parts[0]))"), isOfSwift: false)
    }

    /// The functions at an address of a file, and the reason for a trap there.
    fileprivate static func symbols(
        of locations: [Location], _ names: [String: String], at address: UInt64
    ) -> (trap: Trap?, symbols: [Symbol]) {
        var trap: Trap?
        var symbols: [Symbol] = []
        for (index, location) in locations.enumerated() {
            guard let mangled = location.name else { continue }
            if let found = Self.trap(mangled) {
                trap = trap ?? found
                continue
            }
            let isInlined = index + 1 < locations.count
            let name = names[mangled] ?? mangled
            let offset = isInlined ? nil : location.start.flatMap { $0 <= address ? address - $0 : nil }
            symbols.append(
                Symbol(
                    name: name, mangledName: name == mangled ? nil : mangled, offset: offset, file: location.file,
                    line: location.line, column: location.column, isInlined: isInlined))
        }
        return (trap, symbols)
    }
}
