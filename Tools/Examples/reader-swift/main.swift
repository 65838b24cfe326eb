// Prints how the runs of a program ended: reader-swift DIRECTORY.
import LaunchGuardReports

let directory = StateDirectory(path: CommandLine.arguments.dropFirst().first ?? ".")
for path in try directory.runPaths() {
    let report = try Reader(path: path).run()
    print("\(report.identity?.ordinal ?? 0): \(report.headline)")
    for frame in report.crash?.stack?.frames.prefix(5) ?? [] { print("    \(frame.address)") }
    for breadcrumb in report.breadcrumbs?.entries.suffix(3) ?? [] { print("    \(breadcrumb.text)") }
}

// All that the tool shows of the ledger: the contexts, their ladders, the last runs.
var writer = TextWriter()
try directory.ledger().write(to: &writer)
print(writer.text)
