package import ArgumentParser
package import LaunchGuardReports
import LaunchGuardSymbols

/// Options of the commands that show functions.
package struct SymbolOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The llvm-symbolizer to use. Default: the one in PATH, beside swift, or in /usr/lib/llvm-*.", valueName: "path"))
    package var symbolizer: String?

    @Option(
        help: ArgumentHelp(
            "A folder in which to look for program files before the recorded path: by build id (.build-id/ab/cdef.debug) or by name. "
                + "May be repeated.",
            valueName: "dir"))
    package var debugDir: [String] = []

    @Flag(help: "Show addresses only.")
    package var noSymbols = false

    package init() {}

    /// Add symbols to the reports, as far as possible.
    package func apply(to reports: inout [RunReport]) {
        guard !noSymbols else { return }
        Symbolicator.demangleMessages(of: &reports)
        guard reports.contains(where: { $0.crash != nil || $0.snapshots != nil || $0.guards?.sites?.isEmpty == false }) else { return }
        do throws(Symbolicator.Failure) {
            let program = symbolizer.map { $0.contains("/") ? Tarball.fromStart($0) : $0 }
            try Symbolicator(program: program, debugDirectories: debugDir.map(Tarball.fromStart)).symbolicate(&reports)
        } catch {
            Output.complain("\(error)")
        }
    }
}
