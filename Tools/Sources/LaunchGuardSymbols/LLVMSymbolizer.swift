internal import FoundationEssentials
internal import LaunchGuardReportModel

/// The program `llvm-symbolizer`, or one that answers as that does. The program runs as a process
/// of its own, so that damaged debug information cannot harm the reader of a report.
struct LLVMSymbolizer: Hashable, Sendable {
    var program: String
    /// Words before the arguments of `llvm-symbolizer`.
    var command: [String] = []

    /// The program in its usual place: beside the Swift compiler, where it knows what that compiler
    /// writes, in PATH, or in Debian's LLVM folders, the newest first.
    static func find(
        _ name: String = "llvm-symbolizer", environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> LLVMSymbolizer? {
        let files = FileManager.default
        let paths = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let besideSwift = paths.map { $0 + "/swift" }.first(where: files.isExecutableFile(atPath:)).map {
            URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path
        }
        let versions = (try? files.contentsOfDirectory(atPath: "/usr/lib"))?.filter { $0.hasPrefix("llvm-") } ?? []
        let newestFirst = versions.sorted { Int($0.dropFirst(5)) ?? 0 > Int($1.dropFirst(5)) ?? 0 }
        let folders = [besideSwift].compactMap(\.self) + paths + newestFirst.map { "/usr/lib/\($0)/bin" }
        return folders.map { $0 + "/" + name }.first(where: files.isExecutableFile(atPath:)).map { LLVMSymbolizer(program: $0) }
    }

    /// Whether the program can look up a file: its input syntax cannot express every path.
    static func canName(_ file: String) -> Bool {
        !file.unicodeScalars.contains { $0 == "\"" || $0.value < 0x20 || $0 == "\u{FFFD}" || $0.value >= 0x10FF80 }
    }

    /// The locations of those queries that the program can answer; nil when the program does not
    /// work. A file that is too much for the program costs no other one its answers.
    func locations(of queries: [Location.Query]) -> [Location.Query: [Location]]? {
        var found: [Location.Query: [Location]] = [:]
        var works = queries.isEmpty
        for start in stride(from: 0, to: queries.count, by: 512) {
            let batch = Array(queries[start..<min(start + 512, queries.count)])
            let files = Dictionary(grouping: batch, by: \.file).values
            var (answers, ending) = answers(to: batch)
            if answers == nil, ending != .timeout, files.count > 1 {
                for queries in files {
                    guard ending != .timeout else { break }
                    let part: [Location.Query: [Location]]?
                    (part, ending) = self.answers(to: queries)
                    if let part { answers = (answers ?? [:]).merging(part) { $1 } }
                }
            }
            // One that does not end is not asked again.
            guard let answers else { if ending == .timeout { break } else { continue } }
            works = true
            found.merge(answers) { $1 }
        }
        return works ? found : nil
    }

    private func answers(to queries: [Location.Query]) -> (found: [Location.Query: [Location]]?, ending: Subprocess.Ending) {
        let inputs = queries.map { "CODE \"\($0.file)\" 0x\(String($0.address, radix: 16))" }
        let arguments = command + ["--output-style=JSON", "--no-demangle", "--inlines"] + inputs
        let (output, ending) = Subprocess.run(program, arguments, limit: 64 << 20, seconds: 60)
        guard ending == .status(0), let answers = try? JSONDecoder().decode([Answer].self, from: Data(output)), answers.count == queries.count
        else { return (nil, ending) }
        var found: [Location.Query: [Location]] = [:]
        for (query, answer) in zip(queries, answers) { found[query] = answer.Symbol?.map(Location.init) }
        return (found, ending)
    }

    /// The program's own JSON.
    struct Answer: Codable {
        var Symbol: [Entry]?

        struct Entry: Codable {
            var FunctionName: String?
            var FileName: String?
            var Line: Int?
            var Column: Int?
            var StartAddress: String?
            /// Of `FunctionAttributes` alone.
            var NoReturn: Bool?
        }
    }
}

extension Location {
    fileprivate init(_ entry: LLVMSymbolizer.Answer.Entry) {
        let isGenerated = entry.FileName?.hasSuffix("<compiler-generated>") == true
        name = entry.FunctionName.flatMap { $0.isEmpty || $0 == "??" ? nil : $0 }
        // Without a line it comes from the symbol table, and names any file of the program.
        let hasLine = entry.Line ?? 0 > 0
        file = entry.FileName.flatMap { $0.isEmpty || $0 == "??" || isGenerated || !hasLine ? nil : $0 }
        line = file == nil ? nil : entry.Line
        column = entry.Column.flatMap { $0 > 0 && line != nil ? $0 : nil }
        isNoReturn = entry.NoReturn == true
        start = entry.StartAddress.flatMap { $0.hasPrefix("0x") ? UInt64($0.dropFirst(2), radix: 16) : nil }
    }
}
