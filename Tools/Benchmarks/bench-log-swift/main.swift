// The cost of one breadcrumb in a Swift program, on one thread: bench-log-swift DIR ROUNDS. Build
// it with -c release.
import Glibc
import LaunchGuard

guard CommandLine.arguments.count == 3, let rounds = Int(CommandLine.arguments[2]), rounds > 0 else { exit(2) }
var configuration = Session.Configuration(appID: "org.example.bench")
configuration.stateDirectory = CommandLine.arguments[1]
configuration.ringBytes = 131_072
let session = try Session.start(configuration)
let batch = 2000

func nanoseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// A value that the optimiser cannot see through.
@inline(never) @_optimize(none) func opaque<Value>(_ value: Value) -> Value { value }

/// As most programs have one.
enum Phase { case idle, loading, ready }

let load = opaque(0.7310585786300049), phase = opaque(Phase.loading)
let text = opaque("the quick brown fox jumps over lazy dogs"), constant: StaticString = "the quick brown fox jumps over lazy dogs"
let rows = opaque(41), milliseconds = opaque(12), code = opaque(Int32(-3)), name = opaque("notes.db")

let kinds: [(name: String, call: () -> Void)] = [
    ("a literal", { session.log(.info, "the quick brown fox jumps over lazy dogs") }),
    ("a StaticString", { session.log(.info, constant) }),
    ("a String of 40 bytes", { session.log(.info, text) }),
    ("an interpolation of 4 values", { session.log(.info, "opened \(name): \(rows) rows in \(milliseconds) ms, code \(code)") }),
    ("the same as a String", { session.log(.info, "opened \(name): \(rows) rows in \(milliseconds) ms, code \(code)" as String) }),
    ("a Double", { session.log(.info, "load \(load)") }),
    ("an enumeration", { session.log(.info, "phase \(phase)") }),
    ("a category", { session.log(.info, "the quick brown fox jumps over lazy dogs", category: "bench") }),
    ("a category and 2 fields", { session.log(.info, "the quick brown fox", category: "bench", fields: ["name": name, "rows": text]) }),
]

let nothing = Double.nan
var series = [[Double]](repeating: [Double](repeating: nothing, count: rounds + 1), count: kinds.count)
for round in 0...rounds {
    for index in kinds.indices.shuffled() {
        let begin = nanoseconds()
        for _ in 0..<batch { kinds[index].call() }
        series[index][round] = Double(nanoseconds() - begin) / Double(batch)
    }
}

/// Least, quartiles and median; the first round warms up.
func summary(_ values: [Double]) -> (least: Double, quartile: Double, median: Double, third: Double) {
    let sorted = values.dropFirst().sorted()
    return (sorted[0], sorted[(sorted.count - 1) / 4], sorted[(sorted.count - 1) / 2], sorted[(sorted.count - 1) * 3 / 4])
}

func line(_ name: String, _ figures: [Double]) -> String {
    var text = "  " + name + String(repeating: " ", count: max(0, 58 - name.count))
    for (index, figure) in figures.enumerated() {
        let scale = index < 2 ? 10.0 : 100.0
        let digits = "\((figure * scale).rounded() / scale)"
        text += String(repeating: " ", count: max(1, (index < 2 ? 10 : 8) - digits.count)) + digits
    }
    return text
}

/// For the table of Benchmarks/budget.py, as put_figure() of Benchmarks/common.h.
func put(_ name: String, _ value: Double) {
    guard let path = unsafe getenv("BENCH_FIGURES"), let file = unsafe fopen(path, "a") else { return }
    unsafe fputs("\(name)\t\(value)\n", file)
    unsafe fclose(file)
}

let figures = ["a String of 40 bytes": "string", "an interpolation of 4 values": "interpolation", "a category and 2 fields": "fields"]

print("\nOne breadcrumb of a Swift program, ns                           least    median   ratio   quartiles")
for (kind, values) in zip(kinds, series) {
    let own = summary(values), ratio = summary(zip(values, series[0]).map { $0 / $1 })
    print(line(kind.name, [own.least, own.median, ratio.median, ratio.quartile]) + "-\((ratio.third * 100).rounded() / 100)")
    if let name = figures[kind.name] { put(name, own.median) }
}
