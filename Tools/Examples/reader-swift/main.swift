// Prints how the runs of a program ended: reader-swift DIRECTORY.
import LaunchGuardReports

let directory = CommandLine.arguments.dropFirst().first ?? "."
for path in try RunReport.paths(in: directory) {
    let report = try RunReport(path: path)
    print("\(report.ordinal ?? 0): \(report.headline)")
    for frame in report.stack?.frames.prefix(5) ?? [] { print("    \(frame)") }
    for breadcrumb in report.log.suffix(3) { print("    \(breadcrumb.text)") }
}

// All that the tool shows of the ledger: the contexts, their ladders, the last runs.
print(try LedgerReport(stateDirectory: directory).text())
