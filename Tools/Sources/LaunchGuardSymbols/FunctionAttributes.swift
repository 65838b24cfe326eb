internal import CStackWalk
internal import LaunchGuardReportModel

/// What the source declares of functions, as debug information has it and no symbolizer says it:
/// libdw reads it, in the process that answers as `llvm-symbolizer` does.
enum FunctionAttributes {
    /// Asks `SwiftSymbolizer.answer(to:)` for them in the place of names and lines.
    static let option = "--attributes"

    static func locations(in file: String, at addresses: [UInt64]) -> [UInt64: [Location]]? {
        var functions = [stack_walk_functions](repeating: stack_walk_functions(), count: addresses.count)
        guard unsafe stack_walk_find_functions(file, addresses, addresses.count, &functions) else { return nil }
        let found = functions.map { functions in (0..<functions.count).map { Location(isNoReturn: functions.noreturn >> $0 & 1 != 0) } }
        return Dictionary(zip(addresses, found)) { first, _ in first }
    }
}

extension Symbolicator {
    /// Marks functions that never return, at the places where bug keys ask for that.
    func addAttributes(to reports: inout [RunReport], _ files: [RunModule: ModuleFiles]) {
        guard let attributes else { return }
        func query(_ frame: Frame, _ report: RunReport) -> Location.Query? {
            guard let module = report.module(at: frame.lookup), let file = files[module]?.lines else { return nil }
            return .init(file: file, address: frame.lookup.value &- module.bias.value)
        }
        let queries = Set(reports.flatMap { report in report.endingFrames.compactMap { query($0, report) } })
        let found = cache.attributes(of: queries) { attributes.locations(of: $0.sorted { ($0.file, $0.address) < ($1.file, $1.address) }) ?? [:] }
        for index in reports.indices {
            for frame in reports[index].endingFrames {
                guard let functions = query(frame, reports[index]).flatMap({ found[$0] }), functions.contains(where: \.isNoReturn) else { continue }
                reports[index].mark(frame.address, functions.map(\.isNoReturn))
            }
        }
    }
}
