// The cost of guarded operations of Swift without a fault: bench-guards-swift DIR ROUNDS. Build it
// with -c release.
import Glibc
import LaunchGuard
import LaunchGuardGuards

guard CommandLine.arguments.count == 3, let rounds = Int(CommandLine.arguments[2]), rounds > 0 else { exit(2) }
let session = try Session.start(appID: "org.example.bench", stateDirectory: CommandLine.arguments[1])
let batch = 4096

func nanoseconds() -> UInt64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// A value that the optimiser cannot see through.
@inline(never) @_optimize(none) func opaque<Value>(_ value: Value) -> Value { value }

let numbers = opaque((0..<batch).map { $0 & 0xff }), indices = opaque((0..<batch).shuffled()), text = opaque(String(repeating: "a", count: 16))
let byKey = opaque(Dictionary(uniqueKeysWithValues: (0..<batch).map { ($0, $0) }))
let reals = opaque((0..<batch).map { Double($0) + 0.5 })

@inline(never) func plainElement() -> Int { var sum = 0; for index in indices { sum &+= numbers[index] }; return sum }
@inline(never) func guardedElement() -> Int { var sum = 0; for index in indices { sum &+= numbers[guarded: index] ?? 0 }; return sum }
@inline(never) func plainStore() -> Int { var copy = numbers; for index in indices { copy[index] = index }; return copy[0] }
@inline(never) func guardedStore() -> Int { var copy = numbers; for index in indices { copy[guarded: index] = index }; return copy[0] }
@inline(never) func plainSum() -> Int { var sum = 0; for number in numbers { sum = sum + number }; return sum }
@inline(never) func guardedSum() -> Int { var sum = 0; for number in numbers { sum = sum +? number }; return sum }
@inline(never) func plainQuotient() -> Int { var sum = 0; for number in numbers { sum &+= 1_000_000 / (number + 1) }; return sum }
@inline(never) func guardedQuotient() -> Int { var sum = 0; for number in numbers { sum &+= 1_000_000 /? (number + 1) }; return sum }
@inline(never) func plainInteger() -> Int { var sum = 0; for real in reals { sum &+= Int(real) }; return sum }
@inline(never) func guardedInteger() -> Int { var sum = 0; for real in reals { sum &+= Int(guarded: real) }; return sum }
@inline(never) func plainSlice() -> Int { var sum = 0; for index in indices { sum &+= numbers[(index / 2)..<index].count }; return sum }
@inline(never) func guardedSlice() -> Int { var sum = 0; for index in indices { sum &+= numbers[clamped: (index / 2)..<index].count }; return sum }
@inline(never) func plainKey() -> Int { var sum = 0; for index in indices { sum &+= byKey[index]! }; return sum }
@inline(never) func guardedKey() -> Int { var sum = 0; for index in indices { sum &+= byKey[guarded: index] ?? 0 }; return sum }

let pairs: [(name: String, plain: () -> Int, guarded: () -> Int)] = [
    ("array[i]", plainElement, guardedElement),
    ("array[i] = x", plainStore, guardedStore),
    ("a + b", plainSum, guardedSum),
    ("a / b", plainQuotient, guardedQuotient),
    ("Int(double)", plainInteger, guardedInteger),
    ("array[a..<b]", plainSlice, guardedSlice),
    ("dictionary[k]!", plainKey, guardedKey),
]

func time(_ body: () -> Int) -> Double {
    let begin = nanoseconds()
    _ = opaque(body())
    return Double(nanoseconds() - begin) / Double(batch)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

for isOn in [false, true] {
    if isOn { try session.guards.start() }
    print("\nGuards are \(isOn ? "on" : "off"). One operation without a fault, ns: plain, guarded; median of the ratios of \(rounds) rounds")
    for pair in pairs {
        var plain: [Double] = [], guarded: [Double] = []
        for round in 0...rounds {
            let one = time(pair.plain), other = time(pair.guarded)
            if round > 0 { plain.append(one); guarded.append(other) }
        }
        let ratio = median(zip(guarded, plain).map { $0 / $1 })
        print("  \(pair.name)\(String(repeating: " ", count: 16 - pair.name.count)) \(rounded(plain.min()!)) \(rounded(guarded.min()!)) \(rounded(ratio))")
    }
}
