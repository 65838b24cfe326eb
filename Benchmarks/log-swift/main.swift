// The cost of one breadcrumb in a Swift program, on one thread: bench-log-swift DIR ROUNDS. Build
// it with -c release.
import Glibc
import LaunchGuard

guard CommandLine.arguments.count == 3, let rounds = Int(CommandLine.arguments[2]), rounds > 0 else { exit(2) }
let session = try LaunchGuard.start(appID: "org.example.bench", stateDirectory: CommandLine.arguments[1], ringBytes: 131072)
let batch = 2000

func nanoseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// A value that the optimiser cannot see through.
@inline(never) @_optimize(none) func opaque<Value>(_ value: Value) -> Value { value }

let text = opaque("the quick brown fox jumps over lazy dogs"), constant: StaticString = "the quick brown fox jumps over lazy dogs"
let rows = opaque(41), milliseconds = opaque(12), code = opaque(Int32(-3)), name = opaque("notes.db")

let kinds: [(name: String, call: () -> Void)] = [
    ("a literal", { session.log(.info, "the quick brown fox jumps over lazy dogs") }),
    ("a StaticString", { session.log(.info, constant) }),
    ("a String of 40 bytes", { session.log(.info, text) }),
    ("an interpolation of 4 values", { session.log(.info, "opened \(name): \(rows) rows in \(milliseconds) ms, code \(code)") }),
    ("the same as a String", { session.log(.info, "opened \(name): \(rows) rows in \(milliseconds) ms, code \(code)" as String) }),
    ("a category", { session.log(.info, "the quick brown fox jumps over lazy dogs", category: "bench") }),
    ("a category and 2 fields", { session.log(.info, "the quick brown fox", category: "bench", fields: ["name": name, "rows": text]) }),
]

var series = [[Double]](repeating: [], count: kinds.count)
for _ in 0...rounds {
    for (index, kind) in kinds.enumerated() {
        let begin = nanoseconds()
        for _ in 0..<batch { kind.call() }
        series[index].append(Double(nanoseconds() - begin) / Double(batch))
    }
}
print("\nOne breadcrumb of a Swift program, ns (n = \(rounds) × \(batch))")
for (kind, all) in zip(kinds, series) {
    let sorted = all.dropFirst().sorted() // the first round warms up
    let figures = [sorted[sorted.count / 2], sorted[sorted.count * 9 / 10], sorted[0]].map { "\(($0 * 10).rounded() / 10)" }
    print("  \(kind.name)" + String(repeating: " ", count: 34 - kind.name.count) + figures[0] + "  90 %: " + figures[1] + "  fastest: " + figures[2])
}
