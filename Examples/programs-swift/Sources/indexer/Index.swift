import Foundation

/// Words by file, in a file of lines "COUNT NAME".
actor Index {
    private let folder: URL
    private var words: [String: Int] = [:]

    init(folder: String) { self.folder = URL(filePath: folder, directoryHint: .isDirectory) }

    private var file: URL { folder.appending(path: "index") }

    func load() throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            words[String(parts[1])] = Int(parts[0])!  // The bug of this program.
        }
    }

    func clear() throws {
        words = [:]
        if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    }

    /// Takes long in a large folder, and ends when it is cancelled.
    func rebuild() async throws {
        try clear()
        _ = try await update()
    }

    func update() async throws -> Int {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() where name != "index" {
            if name.hasPrefix("slow") { try await Task.sleep(for: .seconds(30)) }
            try Task.checkCancellation()
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            words[name] = text.split(whereSeparator: \.isWhitespace).count
        }
        let lines = words.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }
        try lines.joined().write(to: file, atomically: true, encoding: .utf8)
        return words.values.reduce(0, +)
    }
}
