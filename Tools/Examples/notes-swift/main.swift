// A small notes keeper that recovers from a damaged database by itself.
//
// The notes are rows of a SQLite database. The program has an honest bug: `Database.loadSummary()`
// relies on a query that must return one row. With a damaged database the query returns no row, and
// the program crashes at every start. LaunchGuard counts these crashes, reports them to the
// program, and lets the program restore its backup. The start then goes on.

import FoundationEssentials
@unsafe @preconcurrency import Glibc  // For stdout and stderr, which are variables in C.

/// The files of one directory of notes.
struct Paths: Sendable {
    let database, backup, state: String

    init(directory: String) {
        database = directory + "/notes.db"
        backup = directory + "/notes.backup.db"
        state = directory + "/state"
    }
}

func printError(_ message: String) {
    unsafe fputs(message + "\n", stderr)
}

func run(_ command: String, _ arguments: [String], _ paths: Paths) async throws {
    switch (command, arguments.count) {
    case ("add", 1...):
        try Database(path: paths.database).add([arguments.joined(separator: " ")])
    case ("import", 1):
        let lines = try String(contentsOfFile: arguments[0], encoding: .utf8).split(separator: "\n")
        try Database(path: paths.database).add(lines.map(String.init))
    case ("list", 0):
        for text in try Database(path: paths.database).texts("SELECT text FROM notes ORDER BY id") { print(text) }
    case ("count", 0):
        for count in try Database(path: paths.database).texts("SELECT count(*) FROM notes") { print(count) }
    case ("backup", 0):
        try Database.copy(from: paths.database, to: paths.backup)
    case ("run", 0):
        try await start(paths, keepLogging: false)
    case ("run", 1) where arguments == ["--keep-logging"]:
        try await start(paths, keepLogging: true)
    default:
        printError("usage: notes DIR add TEXT… | import FILE | list | count | backup | run [--keep-logging]")
        exit(2)
    }
}

unsafe setlinebuf(stdout)
let arguments = CommandLine.arguments.dropFirst()
do {
    try await run(arguments.dropFirst().first ?? "", Array(arguments.dropFirst(2)), Paths(directory: arguments.first ?? "."))
} catch {
    printError("notes: \(error)")
    exit(1)
}
