package import ArgumentParser
package import LaunchGuardReportModel
import LaunchGuardSymbols
import Synchronization
import ToolBase

/// Options of the commands that show functions.
package struct SymbolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What finds lines of the source: llvm (llvm-symbolizer beside swift, in PATH, or in /usr/lib/llvm-*), swift (a part of this tool), "
                + "the name or path of a program that answers as llvm-symbolizer does, builtin (functions alone, without lines), or none. "
                + "Default: llvm where it is there, or else swift.",
            valueName: "way"))
    package var symbolizer: String?

    @Option(
        help: ArgumentHelp(
            "A folder in which, and below which, to look for program files and their separate debug files: by build id "
                + "(.build-id/ab/cdef.debug) or by name. May be repeated.",
            valueName: "dir"))
    package var debugDir: [String] = []

    @Flag(help: "Show addresses only, as with --symbolizer none.")
    package var noSymbols = false

    package init() {}

    package func validate() throws {
        guard !noSymbols || symbolizer == nil else { throw ValidationError("--no-symbols and --symbolizer contradict each other.") }
        for folder in debugDir where try ReportPath.isFolder(folder) != true { throw ValidationError("--debug-dir: \(folder) is no folder.") }
        guard symbolizer == nil || isThere else {
            let there = Symbolicator([.llvm]).hasLines ? "llvm, swift, builtin and none" : "swift, builtin and none; llvm-symbolizer is not installed"
            throw ValidationError("--symbolizer: \(symbolizer ?? "") is no program that can be run. There are here: \(there).")
        }
    }

    /// Whether the chosen way is there.
    private var isThere: Bool {
        guard let ways, symbolizer != "builtin" else { return true }
        if case .program(let path, _)? = ways.first, path.contains("/") { return ProgramBeside.isProgram(path) }
        return Symbolicator(ways).hasLines
    }

    /// The ways to find lines; nil: no symbols at all.
    private var ways: [Symbolicator.Way]? {
        let own = Symbolicator.Way.program(Self.own, [SymbolizeCommand.name])
        switch symbolizer {
        case _ where noSymbols: return nil
        case "none": return nil
        case "builtin": return []
        case "llvm": return [.llvm]
        case "swift": return [own]
        case nil: return [.llvm, own]
        case let program?: return [.program(program.contains("/") ? Tarball.fromStart(program) : program)]
        }
    }

    /// Add symbols to the reports, as far as possible, after doubtful stacks were walked again:
    /// each one, or those alone on which the sentence about a run depends.
    package func apply(to reports: inout [RunReport], everyStack: Bool = false) {
        guard let ways else { return }
        if everyStack { walkAgain(.all, &reports) }
        symbolicate(&reports, ways)
        // Which function is the program's own, symbols say.
        let doubtful = reports.indices.filter { !everyStack && reports[$0].isPlaceDoubtful }
        guard !doubtful.isEmpty else { return }
        var walked = doubtful.map { reports[$0] }
        walkAgain(.place, &walked)
        symbolicate(&walked, ways)
        for (index, report) in zip(doubtful, walked) { reports[index] = report }
    }

    private func symbolicate(_ reports: inout [RunReport], _ ways: [Symbolicator.Way]) {
        let symbolicator = symbolicator(ways)
        symbolicator.demangleMessages(of: &reports)
        guard reports.contains(where: { $0.crash != nil || $0.snapshots != nil || $0.guards?.sites?.isEmpty == false }) else { return }
        do throws(Symbolicator.Failure) {
            try symbolicator.symbolicate(&reports)
        } catch {
            Output.complain("\(error)")
        }
    }

    private func walkAgain(_ extent: StackWalker.Extent, _ reports: inout [RunReport]) {
        reports.walkAgain(extent, [Self.own, WalkCommand.name], debugDirectories: debugDir.map(Tarball.fromStart))
    }

    /// The one of this command, as what it found is of use for the next report.
    private func symbolicator(_ ways: [Symbolicator.Way]) -> Symbolicator {
        Self.shared.withLock { shared in
            let symbolicator =
                shared
                ?? Symbolicator(
                    ways, debugDirectories: debugDir.map(Tarball.fromStart), demangler: [Self.own, DemangleCommand.name],
                    attributes: [Self.own, SymbolizeCommand.name])
            shared = symbolicator
            return symbolicator
        }
    }

    private static let own = "/proc/self/exe"
    private static let shared = Mutex<Symbolicator?>(nil)
}
