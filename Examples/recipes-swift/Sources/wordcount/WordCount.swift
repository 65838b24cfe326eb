import ArgumentParser
import Foundation
import LaunchGuard

/// Counts the words of a file. The number is kept beside the file.
@main
struct WordCount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "wordcount", abstract: "Count the words of a file.")

    @Option(help: "The folder of the program's state.")
    var state: String

    @Argument(help: "The file.")
    var file: String

    func run() async throws {
        // Here, where the command line is read: help and a wrong option are no launch.
        let session = try Session.start(appID: "org.example.wordcount", version: "1.0", stateDirectory: state)
        let launch = session.launch("main", .init(window: .zero, finish: .mark))
        let kept = file + ".count"
        launch.addRepair("forget the number", impact: 10) { try FileManager.default.removeItem(atPath: kept) }
        launch.addTask("read the number", options: .essential) { [file] in
            // The bug of this program is its last "!".
            let number = (try? String(contentsOfFile: kept, encoding: .utf8)).map { Int($0)! }
            print("\(try number ?? Self.count(file, kept)) words")
        }
        // An error of the task is one of the command; the parser prints it.
        switch await launch.begin() {
        case .launched: launch.finish()
        case .failed(_, let error): throw error
        case let other: throw ValidationError("\(other)")
        }
    }

    private static func count(_ file: String, _ kept: String) throws -> Int {
        let words = try String(contentsOfFile: file, encoding: .utf8).split(whereSeparator: \.isWhitespace).count
        try "\(words)".write(toFile: kept, atomically: true, encoding: .utf8)
        return words
    }
}
