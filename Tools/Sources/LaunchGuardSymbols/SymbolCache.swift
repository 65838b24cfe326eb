internal import LaunchGuardReportModel
internal import Synchronization

/// Earlier findings, so that many reports of one program cost one search.
final class SymbolCache: Sendable {
    private let state = Mutex(State())

    private struct State {
        var files: [Place: ModuleFiles] = [:]
        var found = Found()
        var tailCalls: [TailCall: Bool] = [:]
        var attributes: [Location.Query: [Location]] = [:]
    }

    /// A module, and where its file may be.
    private struct Place: Hashable {
        var path: String
        var buildID: String?
        var places: [String]
    }

    /// Known facts about addresses.
    struct Found {
        /// An address without a function has none.
        var locations: [Location.Query: [Location]] = [:]
        /// Reasons why files have no functions.
        var problems: [String: String] = [:]
        /// Why there are no lines.
        var failure: Symbolicator.Failure?
    }

    func files(of module: RunModule, at places: [String], _ find: (RunModule, [String]) -> ModuleFiles) -> ModuleFiles {
        let place = Place(path: module.path, buildID: module.buildID, places: places)
        if let known = state.withLock({ $0.files[place] }) { return known }
        let found = find(module, places)
        state.withLock { $0.files[place] = found }
        return found
    }

    func isSure(_ call: TailCall) -> Bool {
        if let known = state.withLock({ $0.tailCalls[call] }) { return known }
        let isSure = call.isSure
        state.withLock { $0.tailCalls[call] = isSure }
        return isSure
    }

    /// What the source declares of the functions there, after a search for the unknown ones.
    func attributes(of queries: Set<Location.Query>, _ find: (Set<Location.Query>) -> [Location.Query: [Location]]) -> [Location.Query: [Location]] {
        let known = state.withLock(\.attributes)
        let unknown = queries.filter { known[$0] == nil }
        guard !unknown.isEmpty else { return known }
        let found = find(unknown)
        return state.withLock { state in
            for query in unknown { state.attributes[query] = found[query] ?? [] }
            return state.attributes
        }
    }

    /// Facts about those addresses, after a search for the unknown ones.
    func found(of queries: Set<Location.Query>, _ find: (Set<Location.Query>, inout Found) -> Void) -> Found {
        var found = state.withLock(\.found)
        let unknown = queries.filter { found.locations[$0] == nil }
        guard !unknown.isEmpty else { return found }
        find(unknown, &found)
        for query in unknown where found.locations[query] == nil { found.locations[query] = [] }
        state.withLock { [found] in $0.found = found }
        return found
    }
}
