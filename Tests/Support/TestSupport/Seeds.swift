import Foundation

/// Random numbers of a test: by the seeds of Tests/seeds.txt that it failed with, then by
/// LAUNCHGUARD_SEED, a fixed number unless somebody sets that variable.
public struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    /// SplitMix64, S. Vigna 2015.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// For each seed what draws by it; the command line that repeats that is printed first. `test`
    /// is the test's name after its module, "Suite/test".
    public static func draws(_ test: String) throws -> some Sequence<Seeded> {
        let table = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../seeds.txt")
        let found = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
            .filter { $0[0] == test }.compactMap { UInt64($0[1]) }
        let ordinary = ProcessInfo.processInfo.environment["LAUNCHGUARD_SEED"].flatMap(UInt64.init) ?? 1
        let package = CommandLine.arguments[0].contains("/Tools/.build") ? " --package-path Tools" : ""
        return (found + [ordinary]).lazy.map { seed in
            print("again with: LAUNCHGUARD_SEED=\(seed) swift test\(package) --disable-xctest --filter '\(test)'")
            return Seeded(state: seed)
        }
    }
}
