import Foundation

/// The songs of a folder, in the order of the file "order".
actor Library {
    private let order: URL
    private(set) var songs: [String] = []

    init(folder: String) { order = URL(filePath: folder, directoryHint: .isDirectory).appending(path: "order") }

    func open() throws {
        let lines = try String(contentsOf: order, encoding: .utf8).split(separator: "\n").map(String.init)
        // The bug of this program.
        precondition(lines.allSatisfy { $0.hasSuffix(".ogg") }, "no song")
        songs = lines
    }

    func reset() throws {
        songs = []
        try "".write(to: order, atomically: true, encoding: .utf8)
    }
}
